<?php
// Receives webhooks: WEBHOOK_SECRET=... php -S 127.0.0.1:9000 receiver.php   (PHP 8 or newer, no packages needed)
$secret = getenv('WEBHOOK_SECRET');
$raw = file_get_contents('php://input');

// Over the raw bytes, before the body is parsed, and compared in constant time.
$expected = hash_hmac('sha256', $raw, $secret);
if (!hash_equals($expected, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '')) {
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
$id = $_SERVER['HTTP_WEBHOOK_ID'];
$body = json_decode($raw, true, flags: JSON_THROW_ON_ERROR);
error_log($id . ' ' . $body['event'] . ' ' . json_encode($body['data']));
