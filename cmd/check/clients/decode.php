<?php
// As decode.py, with php-amqplib.
require "PhpAmqpLib/autoload.php";
use PhpAmqpLib\Wire\{AMQPAbstractCollection as C, AMQPArray, AMQPDecimal, AMQPTable};
set_error_handler(function ($n, $text) { throw new ErrorException($text); });
function plain($type, $v) {
    if ($v instanceof AMQPTable) {
        $all = [];
        foreach ($v as $k => $x) $all[] = [bin2hex((string)$k), plain($x[0], $x[1])];
        return ["table" => $all];
    }
    if ($v instanceof AMQPArray) {
        $all = [];
        foreach ($v as $x) $all[] = plain($x[0], $x[1]);
        return ["array" => $all];
    }
    if ($v instanceof AMQPDecimal) return ["decimal" => [$v->getN(), $v->getE()]];
    if ($type === C::T_TIMESTAMP) return "t:" . $v;
    if ($v === null) return "null";
    if ($type === C::T_BOOL) $v = (bool)$v;
    if (is_bool($v)) return "b:" . ($v ? "true" : "false");
    if (is_float($v)) return "n:" . (is_nan($v) ? "nan" : (is_infinite($v) ? ($v > 0 ? "inf" : "-inf") : var_export($v, true)));
    if (is_int($v)) return "n:" . $v;
    if ($type === C::T_STRING_LONG || $type === C::T_STRING_SHORT || $type === C::T_BYTES) return "s:" . bin2hex($v);
    return "n:" . $v; // an integer as text
}
echo json_encode(["version" => trim((string)@shell_exec("dpkg-query -W -f '\${Version}' php-amqplib"))]), "\n";
while (($line = fgets(STDIN)) !== false) {
    try {
        $reader = class_exists("PhpAmqpLib\Wire\AMQPBufferReader") ? "PhpAmqpLib\Wire\AMQPBufferReader" : "PhpAmqpLib\Wire\AMQPReader";
        $answer = plain(null, (new $reader(hex2bin(trim($line))))->read_table(true));
    } catch (Throwable $e) {
        $answer = ["error" => get_class($e)];
    }
    echo json_encode($answer, 0, 1 << 20), "\n";
}
