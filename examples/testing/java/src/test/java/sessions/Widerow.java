package sessions;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A widerow for the tests of one class: started once, commanded over HTTP. */
final class Widerow implements AutoCloseable {
    private static final Pattern ENDPOINT = Pattern.compile(" endpoint=(\\S+)");

    final String endpoint;
    private final Process process;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Starts {@code widerow serve --dev} on a free port and returns when it answers. */
    Widerow() throws IOException {
        String command = System.getenv().getOrDefault("WIDEROW", "widerow");
        process =
                new ProcessBuilder(command, "serve", "--memory", "--port", "0", "--dev")
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        BufferedReader said =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = String.valueOf(said.readLine());
        Matcher found = ENDPOINT.matcher(line);
        if (!found.find()) {
            throw new IOException("widerow did not start: " + line);
        }
        endpoint = found.group(1);
    }

    /** An empty instance, no faults, and a clock that stands still at the time of day. */
    void reset(String instance) throws Exception {
        ask("POST", "reset", "{\"instance\": \"" + instance + "\"}");
        ask("DELETE", "faults", "");
        ask("POST", "clock", "{\"freeze\": true, \"set\": " + System.currentTimeMillis() + "}");
    }

    /** A command to /_widerow/; the JSON that it answers. */
    String ask(String method, String page, String body) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(endpoint + "/_widerow/" + page))
                        .header("content-type", "application/json")
                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                        .build();
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() >= 300) {
            throw new IllegalArgumentException(answer.body());
        }
        return answer.body();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        process.waitFor();
    }
}
