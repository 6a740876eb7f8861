# As decode.py, with Bunny's amq-protocol.
require "amq/protocol/client"
require "amq/protocol/version"
require "bigdecimal"
require "json"
def plain(v)
  case v
  when nil then "null"
  when true, false then "b:#{v}"
  when BigDecimal then "n:" + v.to_s("F")
  when Integer then "n:#{v}"
  when Float then "n:" + (v.nan? ? "nan" : v.infinite? ? (v > 0 ? "inf" : "-inf") : v.to_s)
  when String, Symbol then "s:" + v.to_s.b.unpack1("H*")
  when Time, DateTime then "t:#{v.to_time.to_i}"
  when Hash then { table: v.map { |k, x| [k.to_s.b.unpack1("H*"), plain(x)] } }
  else { array: v.map { |x| plain(x) } }
  end
end
puts JSON.generate(version: "amq-protocol #{AMQ::Protocol::VERSION}")
STDIN.each_line do |line|
  answer = begin
    plain(AMQ::Protocol::Table.decode([line.strip].pack("H*")))
  rescue Exception => e
    { error: e.class.name }
  end
  puts JSON.generate(answer, max_nesting: 0)
end
