<?php
// Receives webhooks: WEBHOOK_SECRET=... php -S 127.0.0.1:9000 receiver.php   (PHP 8 or newer, no packages needed)
$secret = getenv('WEBHOOK_SECRET');
$raw = file_get_contents('php://input');

// Over the raw bytes, before the body is parsed, and compared in constant time. The signature covers id and time, too: a
// request that somebody recorded is refused after five minutes.
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '0';
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$raw", $secret, true));
$genuine = false;
foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
    $genuine = hash_equals($expected, $given) || $genuine;
}
if (!$genuine || abs(time() - (int) $timestamp) > 300) {
    http_response_code(401);
    exit;
}

// Answer at once; long work comes afterwards, in a queue of yours.
http_response_code(204);

// Test deliveries hold made-up data: book nothing.
if (($_SERVER['HTTP_WEBHOOK_TEST'] ?? '') === 'true') {
    error_log('test delivery');
    exit;
}

// Deliveries may repeat: skip a webhook-id that you have processed already.
$body = json_decode($raw, true, flags: JSON_THROW_ON_ERROR);
error_log($id . ' ' . $body['event'] . ' ' . json_encode($body['data']));
