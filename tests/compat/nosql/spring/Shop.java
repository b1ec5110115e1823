import static java.util.stream.Collectors.toList;

import com.oracle.nosql.spring.data.config.AbstractNosqlConfiguration;
import com.oracle.nosql.spring.data.config.NosqlDbConfig;
import com.oracle.nosql.spring.data.core.NosqlTemplate;
import com.oracle.nosql.spring.data.core.mapping.NosqlId;
import com.oracle.nosql.spring.data.core.mapping.NosqlKey;
import com.oracle.nosql.spring.data.core.mapping.NosqlTable;
import com.oracle.nosql.spring.data.repository.NosqlRepository;
import com.oracle.nosql.spring.data.repository.Query;
import com.oracle.nosql.spring.data.repository.config.EnableNosqlRepositories;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.StreamSupport;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Sort;
import org.springframework.data.repository.query.Param;

/**
 * The product tables through Spring Data for Oracle NoSQL.
 *
 * <p>Arguments: the endpoint, "begin" or "end". "begin" makes tables and rows, "end" goes on with
 * them. Prints one JSON object with what was seen; what is right is for the tests to say.
 */
public class Shop {
    public enum Color {
        BLUE,
        GREEN,
        RED
    }

    /** The key of a product: two shard columns and one more. */
    public static class ProductKey implements Serializable {
        private static final long serialVersionUID = 1L;

        @NosqlKey(shardKey = true, order = 0)
        public String type;

        @NosqlKey(shardKey = true, order = 1)
        public String name;

        @NosqlKey(shardKey = false, order = 2)
        public String kind;

        public ProductKey() {}

        ProductKey(String type, String name, String kind) {
            this.type = type;
            this.name = name;
            this.kind = kind;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof ProductKey
                    && type.equals(((ProductKey) other).type)
                    && name.equals(((ProductKey) other).name)
                    && kind.equals(((ProductKey) other).kind);
        }

        @Override
        public int hashCode() {
            return Objects.hash(type, name, kind);
        }
    }

    @NosqlTable(readUnits = 100, writeUnits = 100, storageGB = 1)
    public static class Product {
        @NosqlId public ProductKey key;
        public Color color;
        public Integer count;
        public List<String> tags = new ArrayList<>();
        public Map<String, Double> weights = Map.of();

        public Product() {}

        Product(ProductKey key, Color color, Integer count, List<String> tags) {
            this.key = key;
            this.color = color;
            this.count = count;
            this.tags = tags;
        }

        @Override
        public String toString() {
            return key.name + "/" + key.kind + " " + color + " " + count + " " + tags;
        }
    }

    /** A row whose number the table makes. */
    @NosqlTable(readUnits = 100, writeUnits = 100, storageGB = 1)
    public static class Order {
        @NosqlId(generated = true)
        public long id;

        public String note;

        public Order() {}

        Order(String note) {
            this.note = note;
        }
    }

    public interface Products extends NosqlRepository<Product, ProductKey> {
        List<Product> findByCountGreaterThanEqualOrderByCount(int least);

        List<Product> findByKeyTypeAndCountIn(String type, List<Integer> counts);

        List<Product> findByKeyNameStartingWith(String start);

        long countByCountLessThan(int bound);

        boolean existsByKeyKind(String kind);

        /** The library deletes a row when it is read from the answer, and none without one. */
        List<Product> deleteByKeyType(String type);

        Page<Product> findByKeyType(String type, Pageable page);

        @Query(
                "DECLARE $tag STRING; SELECT * FROM Product p WHERE p.kv_json_.tags[] =any $tag"
                        + " ORDER BY p.name, p.kind")
        List<Product> tagged(@Param("$tag") String tag);
    }

    public interface Orders extends NosqlRepository<Order, Long> {}

    @Configuration
    @EnableNosqlRepositories(basePackageClasses = Shop.class, considerNestedRepositories = true)
    public static class Settings extends AbstractNosqlConfiguration {
        static String endpoint;

        @Bean
        public NosqlDbConfig nosqlDbConfig() {
            return NosqlDbConfig.createCloudSimConfig(endpoint);
        }
    }

    private static final ProductKey BRIM = new ProductKey("hat", "brim", "felt");

    private final Products products;
    private final Orders orders;
    private final NosqlTemplate template;
    private final List<String> facts = new ArrayList<>();

    private Shop(AnnotationConfigApplicationContext context) {
        products = context.getBean(Products.class);
        orders = context.getBean(Orders.class);
        template = context.getBean(NosqlTemplate.class);
    }

    public static void main(String[] arguments) {
        Settings.endpoint = arguments[0];
        try (var context = new AnnotationConfigApplicationContext(Settings.class)) {
            Shop shop = new Shop(context);
            try {
                if (arguments[1].equals("begin")) {
                    shop.begin();
                } else {
                    shop.end();
                }
            } finally {
                shop.template.getNosqlClient().close(); // the library leaves that to its user
            }
            System.out.println("{" + String.join(",", shop.facts) + "}");
        }
    }

    private void begin() {
        var bowler = new ProductKey("hat", "bowler", "felt");
        var wool = new ProductKey("hat", "bowler", "wool");
        var bow = new ProductKey("tie", "bow", "silk");
        products.saveAll(
                List.of(
                        new Product(bowler, Color.BLUE, 3, List.of("old", "round")),
                        new Product(wool, Color.GREEN, 0, List.of("new")),
                        new Product(BRIM, Color.RED, 7, List.of()),
                        new Product(bow, null, null, List.of("old"))));
        fact("one", products.findById(bowler).map(Product::toString).orElse("none"));
        fact("none", products.existsById(new ProductKey("hat", "cap", "cotton")));
        fact("all", products.count());
        fact("least", shown(products.findByCountGreaterThanEqualOrderByCount(1)));
        fact("counts", shown(products.findByKeyTypeAndCountIn("hat", List.of(0, 7))));
        fact("start", shown(products.findByKeyNameStartingWith("bo")));
        fact("few", products.countByCountLessThan(4));
        fact("silk", products.existsByKeyKind("silk"));
        fact("tagged", shown(products.tagged("old")));
        var order = Sort.by("key.name", "key.kind");
        List<Object> pages = new ArrayList<>();
        for (int number = 0; number < 2; number++) {
            pages.add(shown(products.findByKeyType("hat", PageRequest.of(number, 2, order))));
        }
        fact("pages", pages);
        List<Long> ids = new ArrayList<>();
        for (String note : List.of("first", "second")) {
            ids.add(orders.save(new Order(note)).id);
        }
        fact("ids", ids.get(0) < ids.get(1));
    }

    private void end() {
        Product brim = products.findById(BRIM).orElseThrow();
        brim.count += 1;
        brim.weights = Map.of("net", 0.25);
        products.save(brim);
        Product again = products.findById(BRIM).orElseThrow();
        fact("changed", again + " " + again.weights);
        fact(
                "sorted",
                shown(products.findAll(Sort.by(Sort.Direction.DESC, "key.name", "key.kind"))));
        template.runTableRequest("CREATE INDEX byCount ON Product(kv_json_.count AS INTEGER)");
        fact("indexed", shown(products.findByCountGreaterThanEqualOrderByCount(3)));
        var entity = template.getNosqlEntityInformation(Product.class);
        var counted = template.runQuery(entity, "SELECT count(*) AS n FROM Product");
        fact("native", counted.iterator().next().getLong("n"));
        fact("deleted", products.deleteByKeyType("hat").size());
        fact("left", shown(products.findAll()));
        orders.deleteAll();
        fact("orders", orders.count());
        template.dropTableIfExists("Product");
        template.dropTableIfExists("Order");
        fact("dropped", true);
    }

    private static List<String> shown(Iterable<Product> rows) {
        return StreamSupport.stream(rows.spliterator(), false)
                .map(Product::toString)
                .collect(toList());
    }

    private void fact(String name, Object value) {
        facts.add(quoted(name) + ":" + json(value));
    }

    private static String json(Object value) {
        if (value instanceof List) {
            return ((List<?>) value).stream().map(Shop::json).collect(toList()).toString();
        }
        return value instanceof String ? quoted((String) value) : String.valueOf(value);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
