"""How the shipped encoders were made: pairs are mined, models trained, exported and scored. Not part of the wheel."""
