// As decode.py, with the RabbitMQ Java client.
import com.rabbitmq.client.LongString;
import com.rabbitmq.client.impl.ClientVersion;
import com.rabbitmq.client.impl.ValueReader;
import java.io.*;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Decode {
    static String hex(byte[] b) { return HexFormat.of().formatHex(b); }

    static String plain(Object v) {
        if (v == null) return "\"null\"";
        if (v instanceof Boolean) return "\"b:" + v + "\"";
        if (v instanceof BigDecimal d) return "\"n:" + d.toPlainString() + "\"";
        if (v instanceof Float f) return "\"n:" + f.doubleValue() + "\"";
        if (v instanceof Number) return "\"n:" + v + "\"";
        if (v instanceof String s) return "\"s:" + hex(s.getBytes(StandardCharsets.UTF_8)) + "\"";
        if (v instanceof LongString s) return "\"s:" + hex(s.getBytes()) + "\"";
        if (v instanceof byte[] b) return "\"s:" + hex(b) + "\"";
        if (v instanceof Date d) return "\"t:" + d.getTime() / 1000 + "\"";
        List<String> all = new ArrayList<>();
        if (v instanceof List<?> l) {
            for (Object x : l) all.add(plain(x));
            return "{\"array\":[" + String.join(",", all) + "]}";
        }
        for (Map.Entry<?, ?> e : ((Map<?, ?>) v).entrySet())
            all.add("[\"" + hex(((String) e.getKey()).getBytes(StandardCharsets.UTF_8)) + "\"," + plain(e.getValue()) + "]");
        return "{\"table\":[" + String.join(",", all) + "]}";
    }

    public static void main(String[] args) throws Exception {
        System.out.println("{\"version\":\"" + ClientVersion.VERSION + "\"}");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String answer;
            try {
                byte[] b = HexFormat.of().parseHex(line.strip());
                answer = plain(new ValueReader(new DataInputStream(new ByteArrayInputStream(b))).readTable());
            } catch (Throwable e) {
                answer = "{\"error\":\"" + e.getClass().getName() + "\"}";
            }
            System.out.println(answer);
        }
    }
}
