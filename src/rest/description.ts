// What the REST reference says before its endpoints.

export const API_DESCRIPTION = `
Prices of trading cards and sealed products from several sources, by condition and grade.

**Authentication.** Every request carries \`Authorization: Bearer <API_KEY>\`.

**Envelope.** Answers are \`{"success": true, "data": ...}\`, lists add \`pagination\`. Errors are
\`{"success": false, "error": {"code", "message"}}\`; a validation error adds \`details\`, one \`{field, message}\` for
each wrong field. Checks come in this order: 401, 403, 429, then the body and the parameters.

**Plans.** Starter reads a reduced item; Professional and above read all fields. Requests a minute are limited by plan:
see the headers \`RateLimit\`, \`RateLimit-Policy\` and, on 429, \`Retry-After\`.

**Caching.** Catalogue answers carry an \`ETag\`; send it back as \`If-None-Match\` to get 304 when nothing changed.

Every answer has an \`X-Request-Id\`; name it when you report a problem.
`
