import com.alicloud.openservices.tablestore.SyncClient;
import com.aliyun.openservices.tablestore.agent.knowledge.KnowledgeStoreImpl;
import com.aliyun.openservices.tablestore.agent.spring.TablestoreVectorStore;
import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.*;
import org.springframework.ai.vectorstore.SearchRequest;

/** Spring AI's vector store over widerow: java Store [ENDPOINT]. */
public final class Store implements EmbeddingModel { // a real model in earnest
  public static void main(String[] words) throws Exception {
    String endpoint = words.length > 0 ? words[0] : "http://127.0.0.1:8087";
    SyncClient client = new SyncClient(endpoint, "widerow", "widerow", "widerow");
    KnowledgeStoreImpl inner = KnowledgeStoreImpl.builder()
        .client(client).tableName("spring_ai").embeddingDimension(2).enableMultiTenant(false).build();
    inner.initTable();
    TablestoreVectorStore store = TablestoreVectorStore.builder(inner, new Store()).build();
    store.add(List.of(new Document("tomato soup"), new Document("apple cake")));
    SearchRequest asked = SearchRequest.builder().query("a soup").topK(1).build();
    System.out.println(store.similaritySearch(asked).get(0).getText());
    client.shutdown();
  }

  public float[] embed(Document document) {
    return document.getText().contains("soup") ? new float[] {1, 0} : new float[] {0, 1};
  }

  public EmbeddingResponse call(EmbeddingRequest request) {
    List<Embedding> found = new ArrayList<>();
    for (String text : request.getInstructions()) {
      found.add(new Embedding(embed(new Document(text)), found.size()));
    }
    return new EmbeddingResponse(found);
  }
}
