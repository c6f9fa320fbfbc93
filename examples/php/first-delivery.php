<?php
// The first delivery: sends customers and transactions, then compares the totals with what was sent.
// Needs PHP 8.2 or later, with the curl extension.
declare(strict_types=1);

/** Sends a request, at most 5 times. Repeating a request is always safe. */
function call(string $path, array $options = []): array
{
    static $token = null;
    $isApi = $path !== '/oauth/token';
    $client = getenv('TRIBUTARY_CLIENT_ID') . ':' . getenv('TRIBUTARY_CLIENT_SECRET');
    $form = [CURLOPT_POSTFIELDS => 'grant_type=client_credentials', CURLOPT_USERPWD => $client];
    for ($left = 4; ; $left--) {
        $token ??= $isApi ? call('/oauth/token', $form)['access_token'] : null;
        $headers = $isApi ? ['Content-Type: application/json', "Authorization: Bearer $token"] : [];
        $options += [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 60];
        $curl = curl_init(getenv('TRIBUTARY_BASE_URL') . $path);
        curl_setopt_array($curl, [CURLOPT_HTTPHEADER => $headers] + $options);
        $text = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($status === 200) {
            return json_decode($text, true, flags: JSON_THROW_ON_ERROR);
        } elseif ($left > 0 && ($status === 429 || $status === 503)) {
            sleep(curl_getinfo($curl, CURLINFO_RETRY_AFTER) ?: 1);
        } elseif ($left > 0 && $status === 401 && $isApi) {
            $token = null; // The token has expired or was revoked: get a new one.
        } elseif ($status === 422) {
            foreach (json_decode($text, true)['errors'] as $e) {
                $e += ['index' => '', 'hint' => ''];
                fwrite(STDERR, "record $e[index] $e[pointer] $e[code]: $e[message] $e[hint]\n");
            }
            exit(1);
        } else {
            throw new RuntimeException("$path: $status $text" . curl_error($curl));
        }
    }
}

ini_set('serialize_precision', '-1'); // With any other, 19.99 may be sent as 19.989999999999998.
$cents = fn (mixed $amount): int => (int) round((float) $amount * 100); // 0.1 + 0.2 is not 0.3.
$input = getenv('EXAMPLE_INPUT') ?: __DIR__ . '/../first-delivery.json';
$data = json_decode(file_get_contents($input), true, flags: JSON_THROW_ON_ERROR);
foreach (['customers', 'transactions'] as $resource) {
    $body = [CURLOPT_POSTFIELDS => json_encode($data[$resource], JSON_THROW_ON_ERROR)];
    foreach (call("/api/v1/forex/$resource", $body)['results'] as $result) {
        $words = [$resource, ...array_values($result['key']), $result['outcome']];
        echo implode(' ', [...$words, ...array_column($result['warnings'] ?? [], 'message')]), "\n";
    }
    $sent[$resource] = count($data[$resource]);
}
foreach ($data['transactions'] as ['currency' => $name, 'amount_currency' => $amount])
    $sent["$name cents"] = ($sent["$name cents"] ?? 0) + $cents($amount);
foreach (call("/api/v1/forex/totals?from=$data[from]&to=$data[to]")['data'] as $total) {
    ['resource' => $name, 'count' => $count] = $total;
    $counted[$name] = ($counted[$name] ?? 0) + $count;
    $name = ($total['currency'] ?? '') . ' cents';
    $counted[$name] = ($counted[$name] ?? 0) + $cents($total['sums']['amount_currency'] ?? 0);
}
foreach ($sent as $name => $n) echo "$name: sent $n, counted ", $counted[$name] ?? 0, "\n";
exit(array_intersect_key($counted ?? [], $sent) == $sent ? "reconciled\n" : 1);
