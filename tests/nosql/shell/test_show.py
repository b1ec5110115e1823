"""`show tables` and `show indexes` (cli §5), the schema text (model §12)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

KID = """
table create -name {} -desc kids
add-field -type STRING -name {}
primary-key -field {}
exit
"""


def test_tables_are_shown_with_their_children_below(shell: "Shell") -> None:
    assert shell.run("show tables") == ("No table found.\n", 0)
    shell.rows()
    shell.run(KID.format("myProducts.parts.screws", "s", "s"))
    shell.run("plan add-table -name myProducts.parts.screws")
    shell.run(KID.format("zoo", "z", "z") + "plan add-table -name zoo")
    lines = ["\tmyProducts", "\t  myProducts.parts", "\t    myProducts.parts.screws -- kids"]
    zoo = "\tzoo -- kids"
    title = "Tables in all namespaces: "
    assert shell.run("show tables")[0] == "\n".join((title, *lines, zoo, "\t\n"))
    assert shell.run("show tables -level 1")[0] == "\n".join((title, lines[0], zoo, "\t\n"))
    assert shell.run("show tables -parent MYPRODUCTS")[0] == "\n".join((title, *lines[1:], "\t\n"))
    assert shell.run("show tables -namespace nosuch") == ("No table found.\n", 0)
    assert shell.run("show tables -name nosuch") == ("Table nosuch does not exist.\n", 0)


def test_verbose_says_more(shell: "Shell") -> None:  # cli §1
    shell.products()
    line = "\tmyProducts (primary key: productName, productType, productClass; shard key: "
    assert line in shell.run("show tables -verbose")[0]
    assert line not in shell.run("show tables")[0]
    assert "State:      SUCCEEDED" in shell.run("verbose on\nshow plans")[0]
    assert "State:" not in shell.run("verbose off\nshow plans")[0]


def test_tables_of_a_namespace(shell: "Shell") -> None:
    shell.store.create_namespace("shop")
    shell.run(KID.format("t -namespace shop", "a", "a"))
    assert shell.run("plan add-table -name t -namespace shop")[1] == 0
    assert shell.run("show tables -namespace shop")[0] == (
        "Tables in namespace: shop\n\tshop:t -- kids\n\t\n"
    )
    assert shell.run("namespace shop") == ("Namespace is shop\n", 0)
    assert shell.run("show tables -name t")[0].startswith(
        '{\n  "json_version" : 2,\n  "type" : "table",\n  "namespace" : "shop",\n  "name" : "t",\n'
    )
    assert shell.run('put table -name t -json \'{"a":"x"}\'')[1] == 0


def test_the_text_of_a_schema(shell: "Shell") -> None:  # model §12
    shell.rows()
    assert (
        shell.run("show tables -name MYproducts.PARTS")[0]
        == """{
  "json_version" : 2,
  "type" : "table",
  "name" : "parts",
  "id" : "2",
  "parent" : "myProducts",
  "fields" : [
    {
      "name" : "productType",
      "type" : "STRING",
      "nullable" : false
    },
    {
      "name" : "number",
      "type" : "INTEGER",
      "nullable" : false
    },
    {
      "name" : "part",
      "type" : "STRING",
      "nullable" : false
    }
  ],
  "primaryKey" : ["productType", "number", "part"],
  "shardKey" : ["productType"]
}
"""
    )


def test_indexes_of_a_table_that_has_none(shell: "Shell") -> None:
    shell.rows()
    assert shell.run("show indexes -table myProducts") == ("No index found.\n", 0)
    assert shell.run("show indexes -table nosuch") == (
        "Error handling command show indexes -table nosuch: Table not found: nosuch\n",
        1,
    )
    assert shell.run("show indexes -name i")[1] == 64
