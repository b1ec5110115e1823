"""Applications that build on the vendor's SDK, in a session of use each.

    python sessions.py ENDPOINT INSTANCE

Prints one JSON object, from the name of a session to what it saw; one that did not come to its end
says why under "panic". What is right is for the tests to say. Runs in the environment of
`requirements.txt`, which knows nothing of widerow.
"""

import json
import sys
import traceback
from typing import TYPE_CHECKING, Any

import tablestore as sdk
from langchain_community.vectorstores.tablestore import TablestoreVectorStore as LangChainStore
from langchain_core.embeddings import Embeddings
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.vector_stores.tablestore import TablestoreVectorStore
from tablestore_for_agent_memory.base.base_knowledge_store import Document
from tablestore_for_agent_memory.base.base_memory_store import Message, Session
from tablestore_for_agent_memory.base.filter import Filters
from tablestore_for_agent_memory.knowledge.knowledge_store import KnowledgeStore
from tablestore_for_agent_memory.memory.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

Facts = dict[str, Any]

TEXTS = {
    "a": ("tomato soup with basil", [1.0, 0.0]),
    "b": ("cold tomato soup", [0.9, 0.1]),
    "c": ("apple cake", [0.0, 1.0]),
}


def knowledge(ots: sdk.OTSClient) -> Facts:
    """tablestore-for-agent-memory: documents with texts and vectors of several tenants."""
    store = KnowledgeStore(
        tablestore_client=ots,
        vector_dimension=2,
        enable_multi_tenant=True,
        search_index_schema=[
            sdk.FieldSchema("text", sdk.FieldType.TEXT, analyzer=sdk.AnalyzerType.MAXWORD),
            sdk.FieldSchema(
                "embedding",
                sdk.FieldType.VECTOR,
                vector_options=sdk.VectorOptions(
                    sdk.VectorDataType.VD_FLOAT_32, sdk.VectorMetricType.VM_COSINE, 2
                ),
            ),
            sdk.FieldSchema("kind", sdk.FieldType.KEYWORD),
        ],
    )
    store.init_table()
    for name, (text, embedding) in TEXTS.items():
        document = Document(document_id=name, tenant_id="one", text=text, embedding=embedding)
        document.metadata["kind"] = "cake" if name == "c" else "soup"
        store.put_document(document)
    store.put_document(Document("a", "two", "tomato", [1.0, 0.0]))
    soups = Filters.eq("kind", "soup")
    near = store.vector_search([1.0, 0.0], top_k=2, tenant_id="one", limit=2)
    words = store.full_text_search("tomato basil", tenant_id="one", limit=10)
    some = store.search_documents(tenant_id="one", metadata_filter=soups, limit=10)
    store.delete_document_by_tenant("one")
    left = store.search_documents(tenant_id=["one", "two"], limit=10)
    return {
        "near": [[hit.document.document_id, hit.score is not None] for hit in near.hits],
        "words": [hit.document.document_id for hit in words.hits],
        "some": sorted(hit.document.document_id for hit in some.hits),
        "left": [[hit.document.tenant_id, hit.document.document_id] for hit in left.hits],
    }


def memory(ots: sdk.OTSClient) -> Facts:
    """tablestore-for-agent-memory: sessions and messages."""
    store = MemoryStore(
        tablestore_client=ots,
        session_search_index_schema=[sdk.FieldSchema("mood", sdk.FieldType.KEYWORD)],
        message_search_index_schema=[
            sdk.FieldSchema("content", sdk.FieldType.TEXT, analyzer=sdk.AnalyzerType.MAXWORD)
        ],
    )
    store.init_table()
    store.init_search_index()
    for number in range(3):
        mood = "good" if number else "bad"
        store.put_session(Session("user", f"s{number}", metadata={"mood": mood}))
        store.put_message(Message(f"s{number}", "m", create_time=number, content=f"hello {number}"))
    good = store.search_sessions(metadata_filter=Filters.eq("mood", "good"), limit=1)
    following = store.search_sessions(
        metadata_filter=Filters.eq("mood", "good"), limit=10, next_token=good.next_token
    )
    said = store.search_messages(metadata_filter=Filters.text_match("content", "2"), limit=10)
    return {
        "good": [hit.session_id for hit in (*good.hits, *following.hits)],
        "said": [[hit.session_id, hit.content] for hit in said.hits],
    }


def llama(ots: sdk.OTSClient) -> Facts:
    """The vector store of LlamaIndex."""
    store = TablestoreVectorStore(
        tablestore_client=ots,
        vector_dimension=2,
        metadata_mappings=[sdk.FieldSchema("kind", sdk.FieldType.KEYWORD, index=True)],
    )
    store.create_table_if_not_exist()
    store.create_search_index_if_not_exist()
    nodes = []
    for name, (text, embedding) in TEXTS.items():
        node = TextNode(id_=name, text=text, embedding=embedding)
        node.metadata["kind"] = "cake" if name == "c" else "soup"
        node.metadata["ref_doc_id"] = "doc"
        nodes.append(node)
    store.add(nodes)

    def asked(mode: VectorStoreQueryMode, **more: Any) -> list[str]:  # noqa: ANN401  # of the query
        query = VectorStoreQuery(
            query_embedding=[1.0, 0.0], query_str="apple", similarity_top_k=2, mode=mode, **more
        )
        return list(store.query(query).ids or [])

    soup = MetadataFilters(
        filters=[MetadataFilter(key="kind", value="oup", operator=FilterOperator.CONTAINS)]
    )
    seen = {
        "near": asked(VectorStoreQueryMode.DEFAULT),
        "filtered": asked(VectorStoreQueryMode.DEFAULT, filters=soup),
        "words": asked(VectorStoreQueryMode.TEXT_SEARCH),
        "both": sorted(asked(VectorStoreQueryMode.HYBRID)),
    }
    store.delete("doc")
    return seen | {"left": asked(VectorStoreQueryMode.DEFAULT)}


class Embedded(Embeddings):  # type: ignore[misc]  # its type is known in its environment only
    """Vectors of the three texts, and of whatever else is asked."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        known = dict(TEXTS.values())
        return [known.get(text, [1.0, 0.0]) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def langchain(_ots: sdk.OTSClient) -> Facts:
    """The vector store of LangChain."""
    store = LangChainStore(
        embedding=Embedded(),
        endpoint=sys.argv[1],
        instance_name=sys.argv[2],
        access_key_id="widerow",
        access_key_secret="widerow",  # of a server of this test
        table_name="langchain",
        index_name="langchain_index",
        vector_dimension=2,
        metadata_mappings=[sdk.FieldSchema("kind", sdk.FieldType.KEYWORD)],
    )
    store.create_table_if_not_exist()
    store.create_search_index_if_not_exist()
    store.add_texts(
        [text for text, _ in TEXTS.values()],
        [{"kind": "cake" if name == "c" else "soup"} for name in TEXTS],
        ids=list(TEXTS),
    )
    scored = store.similarity_search_with_score("soup", k=2)
    cakes = store.similarity_search(
        "soup", k=2, tablestore_filter_query=sdk.TermQuery("kind", "cake")
    )
    store.delete(["a"])
    return {
        "near": [[document.id, score] for document, score in scored],
        "cakes": [document.page_content for document in cakes],
        "left": [document.id for document in store.similarity_search("soup", k=3)],
    }


def main() -> None:
    """Run every session in the instance."""
    endpoint, instance = sys.argv[1:]
    ots = sdk.OTSClient(endpoint, "widerow", "widerow", instance)
    seen: dict[str, Facts] = {}
    sessions: tuple[Callable[[sdk.OTSClient], Facts], ...] = (knowledge, memory, llama, langchain)
    for session in sessions:
        try:
            seen[session.__name__] = session(ots)
        except Exception:  # noqa: BLE001  # what happened is for the test to show
            seen[session.__name__] = {"panic": traceback.format_exc()}
    sys.stdout.write(json.dumps(seen))


main()
