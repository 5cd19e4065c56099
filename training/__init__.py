"""The training of the shipped encoders: mining pairs, training, export and scoring. It is not part of the wheel."""
