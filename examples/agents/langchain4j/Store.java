import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.search.FieldSchema;
import com.alicloud.openservices.tablestore.model.search.FieldType;
import dev.langchain4j.data.document.Metadata;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.store.embedding.EmbeddingSearchRequest;
import dev.langchain4j.store.embedding.tablestore.TablestoreEmbeddingStore;
import java.util.List;

/** langchain4j's embedding store over widerow: java Store [ENDPOINT]. */
public final class Store {
  public static void main(String[] words) {
    String endpoint = words.length > 0 ? words[0] : "http://127.0.0.1:8087";
    SyncClient client = new SyncClient(endpoint, "widerow", "widerow", "widerow");
    List<FieldSchema> fields = List.of(new FieldSchema("kind", FieldType.KEYWORD));
    TablestoreEmbeddingStore store = new TablestoreEmbeddingStore(client, 2, fields);
    store.init();
    add(store, "tomato soup", "soup", 1, 0);
    add(store, "apple cake", "cake", 0, 1);
    EmbeddingSearchRequest asked = EmbeddingSearchRequest.builder()
        .queryEmbedding(Embedding.from(new float[] {1, 0})).maxResults(1).build();
    System.out.println(store.search(asked).matches().get(0).embedded().text());
    client.shutdown();
  }

  private static void add(TablestoreEmbeddingStore store, String text, String kind, float... at) {
    store.add(Embedding.from(at), TextSegment.from(text, new Metadata().put("kind", kind)));
  }
}
