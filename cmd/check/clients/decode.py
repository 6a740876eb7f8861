# Reads field tables in hex, a line each, with the client that the argument names, and writes what
# the client makes of each as JSON: {"table": …} or {"error": …}.
import datetime, decimal, json, sys

def plain(v):
    if v is None: return "null"
    if isinstance(v, bool): return "b:true" if v else "b:false"
    if isinstance(v, (int, float, decimal.Decimal)): return "n:" + repr(v) if isinstance(v, float) else "n:" + format(v, "f") if isinstance(v, decimal.Decimal) else "n:%d" % v
    if isinstance(v, str): return "s:" + v.encode("utf-8", "surrogatepass").hex()
    if isinstance(v, (bytes, bytearray)): return "s:" + bytes(v).hex()
    if isinstance(v, datetime.datetime):
        utc = v if v.tzinfo else v.replace(tzinfo=datetime.timezone.utc)
        return "t:%d" % round((utc - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds())
    if isinstance(v, dict): return {"table": [[name(k), plain(x)] for k, x in v.items()]}
    return {"array": [plain(x) for x in v]}

def name(k): return (k if isinstance(k, bytes) else str(k).encode("utf-8", "surrogatepass")).hex()

if sys.argv[1] == "pika":
    import pika.data
    version, read = pika.__version__, lambda b: pika.data.decode_table(b, 0)[0]
elif sys.argv[1] == "py-amqp":
    import amqp
    from amqp.serialization import loads
    version, read = amqp.__version__, lambda b: loads("F", b, 0)[0][0]
else:
    import pamqp.decode
    version, read = pamqp.__version__, lambda b: pamqp.decode.field_table(b)[1]
print(json.dumps({"version": version}))
for line in sys.stdin:
    try:
        answer = plain(read(bytes.fromhex(line.strip())))
    except Exception as e:
        answer = {"error": type(e).__name__}
    print(json.dumps(answer))
