"""Who may open which instance and do what: the whole table."""

import pytest

from widerow.auth.keyring import AccessKey, Permission
from widerow.auth.policy import ANY_INSTANCE, InstancePolicy, authorize
from widerow.errors import AnyRule, InvalidRequest, NotPermitted, Rule

ANYWHERE = AccessKey("a", "s")
SHOP_ONLY = AccessKey("b", "s", instances=frozenset({"shop"}))
LISTED = InstancePolicy(frozenset({"shop", "stock"}))


def refusal(policy: InstancePolicy, instance: str, key: AccessKey) -> AnyRule | None:
    try:
        policy.admit(instance, key)
    except (InvalidRequest, NotPermitted) as error:
        return error.rule
    return None


@pytest.mark.parametrize(
    ("policy", "key", "instance", "rule"),
    [
        (ANY_INSTANCE, ANYWHERE, "shop", None),
        (ANY_INSTANCE, ANYWHERE, "anything-1_b", None),
        (ANY_INSTANCE, SHOP_ONLY, "shop", None),
        (ANY_INSTANCE, SHOP_ONLY, "stock", Rule.INSTANCE_FORBIDDEN),
        (ANY_INSTANCE, SHOP_ONLY, "Shop", Rule.INSTANCE_FORBIDDEN),
        (LISTED, ANYWHERE, "shop", None),
        (LISTED, ANYWHERE, "other", Rule.INSTANCE_UNKNOWN),
        (LISTED, ANYWHERE, "SHOP", Rule.INSTANCE_UNKNOWN),
        (LISTED, ANYWHERE, "shop.", Rule.INSTANCE_UNKNOWN),
        (LISTED, SHOP_ONLY, "stock", Rule.INSTANCE_FORBIDDEN),
        (LISTED, SHOP_ONLY, "shop", None),
        (ANY_INSTANCE, ANYWHERE, "..", Rule.INSTANCE_NAME),
        (ANY_INSTANCE, ANYWHERE, "", Rule.INSTANCE_NAME),
    ],
)
def test_instances(  # semantics §18.1, the 403 rows
    policy: InstancePolicy, key: AccessKey, instance: str, rule: AnyRule | None
) -> None:
    assert refusal(policy, instance, key) is rule


def test_a_list_takes_valid_names_only() -> None:
    with pytest.raises(InvalidRequest):
        InstancePolicy(frozenset({"shop", "../etc"}))


@pytest.mark.parametrize("permission", Permission)
@pytest.mark.parametrize("held", Permission)
def test_a_key_does_what_it_may_and_nothing_else(held: Permission, permission: Permission) -> None:
    key = AccessKey("a", "s", permissions=frozenset({held}))
    if held is permission:
        authorize(key, permission)
        return
    with pytest.raises(NotPermitted) as caught:
        authorize(key, permission)
    assert caught.value.rule is Rule.PERMISSION_MISSING
    assert caught.value.details == {"permission": permission.value}
