"""Short and long forms of words."""

from dowse.text.analysis import other_forms, terms_of


def test_a_short_form_has_long_ones_and_a_long_form_short_ones() -> None:
    [term] = terms_of("configuration")
    assert other_forms(term) == ("cfg", "config", "conf")
    assert term in other_forms("cfg")
    assert other_forms("temp") == (*terms_of("temporary"), *terms_of("temperature"))


def test_two_long_forms_of_one_short_form_are_not_forms_of_each_other() -> None:
    [authentication], [authorization] = terms_of("authentication"), terms_of("authorization")
    assert authorization not in other_forms(authentication) == ("auth",)
