"""The vendor's agent memory over widerow: sessions and messages of users, found by words.

python agent_memory.py [ENDPOINT]
"""

import sys

from tablestore import AnalyzerType, FieldSchema, FieldType, OTSClient
from tablestore_for_agent_memory.base.base_memory_store import Message, Session
from tablestore_for_agent_memory.base.filter import Filters
from tablestore_for_agent_memory.memory.memory_store import MemoryStore

endpoint = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8087"
store = MemoryStore(
    tablestore_client=OTSClient(endpoint, "widerow", "widerow", "widerow"),
    session_search_index_schema=[FieldSchema("mood", FieldType.KEYWORD)],
    message_search_index_schema=[
        FieldSchema("content", FieldType.TEXT, analyzer=AnalyzerType.MAXWORD)
    ],
)
store.init_table()
store.init_search_index()
store.put_session(Session("ann", "s1", metadata={"mood": "good"}))
store.put_message(Message("s1", "m1", create_time=1, content="do you have green tea"))
store.put_message(Message("s1", "m2", create_time=2, content="we have three kinds"))
found = store.search_messages(metadata_filter=Filters.text_match("content", "tea"), limit=5)
(session,) = store.search_sessions(metadata_filter=Filters.eq("mood", "good"), limit=5).hits
sys.stdout.write(f"{session.user_id}: {', '.join(hit.content for hit in found.hits)}\n")
