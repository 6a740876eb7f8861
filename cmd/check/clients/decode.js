// As decode.py, with amqplib.
const home = require("path").join(process.cwd(), "node_modules/amqplib/");
const codec = require(home + "lib/codec.js");
const { version } = require(home + "package.json");
const hex = (s) => Buffer.from(s).toString("hex");
const plain = (v) => {
  if (v === null || v === undefined) return "null";
  if (typeof v === "boolean") return "b:" + v;
  if (typeof v === "number") return "n:" + v;
  if (typeof v === "bigint") return "n:" + v;
  if (typeof v === "string") return "s:" + hex(v);
  if (Buffer.isBuffer(v)) return "s:" + v.toString("hex");
  if (Array.isArray(v)) return { array: v.map(plain) };
  if (v["!"] === "timestamp") return "t:" + v.value;
  if (v["!"] === "decimal") return { decimal: [v.value.digits, v.value.places] };
  if (v["!"] !== undefined && v.value !== undefined) return plain(v.value);
  return { table: Object.entries(v).map(([k, x]) => [hex(k), plain(x)]) };
};
console.log(JSON.stringify({ version }));
for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n")) {
  let answer;
  try {
    const octets = Buffer.from(line, "hex");
    const end = 4 + octets.readUInt32BE(0);
    if (end > octets.length) throw new RangeError(); // as where the property is read
    answer = plain(codec.decodeFields(octets.subarray(4, end)));
  } catch (e) {
    answer = { error: e.name };
  }
  console.log(JSON.stringify(answer));
}
