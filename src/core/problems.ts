// Reasons for errors: a rule and its parameters, from which texts are built in any language and naming style.

/** Words used in parameters and translated in texts. */
export const TERMS = [
  // things
  'account',
  'approval rule',
  'batch',
  'card',
  'category',
  'collection',
  'collection record',
  'grade',
  'held price',
  'import',
  'item',
  'key',
  'listing',
  'match',
  'operator token',
  'order',
  'pack',
  'parked row',
  'person',
  'price',
  'price decision',
  'price job',
  'price mapping',
  'product',
  'repricing rule',
  'series',
  'session',
  'set',
  'webhook event',
  // states and events
  'accepted',
  'active',
  'applied',
  'approved',
  'discarded',
  'reverted',
  'expired',
  'malformed',
  'missing',
  'open',
  'paused',
  'pending',
  'placed',
  'planned',
  'postponed',
  'queued',
  'rejected',
  'revoked',
  'separated',
  'sold',
  'undone',
  'unknown',
  'be paused',
  'be sold',
  'expire',
  // parts of requests and files, and their properties
  'body',
  'document',
  'entry',
  'extensions',
  'file',
  'header',
  'headers',
  'line',
  'path',
  'query',
  'variables',
  'aliases',
  'bytes',
  'categories',
  'characters',
  'columns',
  'grades',
  'items',
  'levels',
  'printings',
  'rows',
  'tokens',
  // texts, clients, and what to do
  'on one line',
  'on one line, without bidirectional controls',
  'on one line, with a visible character and without bidirectional controls',
  'without bidirectional controls',
  'without spaces at its ends and bidirectional controls',
  'accounts',
  'operators',
  'split it',
  'Graded',
  'Ungraded',
] as const
export type Term = (typeof TERMS)[number]

const TERM_PARAMS = ['thing', 'state', 'status', 'action', 'part', 'units', 'form', 'who', 'advice', 'group'] as const

/**
 * Every rule with its English text. `{field}` and `{fields}` are names of fields; the values of `TERM_PARAMS` are `TERMS`; `{must}`,
 * `{each}`, `{options}` and `{problems}` are reasons themselves; all others are values. Of `[a|b]`, the first alternative
 * whose parameters are all given is used.
 */
export const RULES = {
  // Fields checked against their schema
  required: 'is required[ and {must}]',
  unknown_parameter: 'is not a parameter of this operation[; did you mean {value}?]',
  unknown_field: 'is not allowed here[; allowed fields: {fields}]',
  invalid: 'is not valid',
  only_once: 'must be given only once',
  at_least_one: 'must have at least one of {fields}',
  exactly_one: 'must be given, or {field}, but not both',
  not_in_body: 'must not be in the body: it is in the {part}',
  null: 'must be null',
  or_null: '{must}, or null',
  any_of: '{options}',
  integer: 'must be a whole number[ between {min} and {max}| of at least {min}| of at most {max}][, except {except}][, not "{value}"]',
  number:
    'must be a number[ above {above} and at most {max}| above {above}| between {min} and {max}| of at least {min}| of at most {max}][, with at most {decimals} decimals][, not "{value}"]',
  amount_text: 'must be an amount as text with at most two decimals, such as {example}',
  boolean: 'must be true or false',
  one_of: 'must be one of {values}[, not "{value}"]',
  text: 'must be text[ of {min} to {max} characters| of at least {min} characters| of at most {max} characters][ {form}][ that matches {pattern}]',
  storable: 'must not contain NUL or unpaired surrogates',
  slug: 'must be lower-case words and digits joined with "-"',
  url: 'must be a URL[ that starts with {values}]',
  url_credentials: 'must not contain a user name or password',
  url_port: 'must have a port between 1 and 65535',
  url_private: 'must not be a private or otherwise special address',
  origin: 'must be an origin such as https://shop.example or http://localhost:5173',
  address_range: 'must be an IP address or a range, such as 203.0.113.7 or 2001:db8::/32',
  currency: 'must be a currency of three capital letters, such as USD',
  language: 'must be a language such as en, tr or ja, of at most {max} characters',
  label: 'must be a condition, such as Near Mint, or a grader with a grade, such as PSA 10[, not "{value}"]',
  file_name: 'must be a file name of at most {max} characters, without folders',
  no_dry_run: 'is not supported by this operation',
  header_key: 'must be {min} to {max} visible ASCII characters',
  needs_credential: 'is allowed only with an API key, an operator token or a session',
  not_supported: 'is not supported by this operation; send the request without it',
  operator_token: 'must be an operator token',
  person_name: 'must be a name of at most {max} characters, without # and without spaces at its ends',
  password_common:
    'is too easy to guess: it is a common password, or made of names, words or rows of keys; use several words that have nothing to do with each other',
  wrong_password: 'is not the password of this account',
  two_factor_code: 'is not a code that the app shows now; check the time of the device',
  api_key: 'must be an API key',
  query_field: 'has no field {name} (character {at}); fields: {values}',
  query_operator: 'compares {name} with {values} only (character {at})',
  query_value: 'has an invalid value for {name}: it {must}, not "{value}" (character {at})',
  query_value_missing: 'lacks a value at character {at}',
  query_term: 'lacks a term at character {at}',
  query_terms: 'may have at most {most} terms (character {at})',
  query_depth: 'may have at most {most} nested parentheses (character {at})',
  query_open: 'has a parenthesis at character {at} that is not closed',
  query_closed: 'has a parenthesis at character {at} that was not opened',
  query_quote: 'has a quotation mark at character {at} that is not closed',
  event_cursor: 'must be the cursor of an event of the account, or `next` of an earlier answer',
  change_cursor: 'must be `next` or a `cursor` of an earlier answer, or the `change_cursor` of a dump',
  dump_running: 'a dump is already running',
  cursor_expired: 'the changes after this cursor are no longer kept: start from a dump',
  list_of: 'must be a list of {values}, separated by commas',
  cursor: 'must be an endCursor of [a list sorted by {values}|a list with prices of {market}|this list]',
  list: 'must be a list[ of {min} to {max} entries| of at most {max} entries][; each entry {each}]',
  list_body: 'must be the body itself: a list of at most {max} prices',
  object: 'must be an object[ with at least {min} field]',
  time: 'must be a time in ISO 8601 with an offset[ between {from} and {to}][, such as {example}][, not "{value}"]',
  time_utc: 'must be a time in UTC, such as {example}',
  date: 'must be a date[ written {format}][ between {from} and {to}][, not "{value}"]',
  in_future: 'must be in the future',
  not_in_future: 'must not be in the future',
  not_in_past: 'must not be in the past',
  days_ahead: 'must be at most {days} days ahead',
  days_after: 'must be at most {days} days after {field}',
  not_before: 'must not be before {from}',
  before: 'must be before {field}',

  // Fields checked against stored data
  unknown_id: 'must be the id of an existing {thing}, not {id}',
  not_a_grade: 'must be the id of a grade; {id} is the group {name}',
  needs_grade: 'is required: there is no grade {name}',
  type_id: 'must be null or the id of a type below a group (GET /groups)',
  group_ids: 'must be ids of groups: {values}',
  grade_of_item: 'must be a grade of the item, not {name}; possible: {values}',
  category_market: 'must be a category of {market}; this one is of {other}',
  market_fixed: 'must stay {market}: the items of a category are of its market',
  own_descendant: 'must not be the category itself or one below it',
  same_order: 'must not have two images with the same order',
  not_above: 'must not be above {field}',
  not_below: 'must not be below the {field} of {min}',
  balance: 'must keep the balance of {balance} between {min} and {max}',
  words: 'must have {min} to {max} words',
  other_than: 'must differ from {field}',
  rate_of_lira: 'must not be TRY: rates are in lira',
  rate_again: 'must be the same as in [line {line}|row {row}|the other row], which is of the same currency and day',
  file: 'cannot be read: {must}',
  catalogue_changed: 'was matched to a catalogue that has changed; send it again',

  // Mappings of price lists
  mapping: 'must name columns, such as {example}[, or {field} a saved mapping]',
  mapping_pairs: 'must be pairs of a field and a column, such as {example}, not "{value}"',
  mapping_twice: 'names two columns for {name}[: {values}]',
  mapping_price: 'must name a column for price',
  mapping_item: 'must name a column for one of {values}',
  mapping_field: 'names {name}, which is not a field; known fields: {values}',
  mapping_column: '{name}: {must}',
  mapping_size: 'must name at most {max} fields',
  only_with: 'can be {name} only with one of {values}',
  only_mapped: 'is allowed only with a format that is read by a mapping, which {format} is not',
  brace: 'must close each brace, not "{value}"',
  path: 'must be a path such as {example}',

  // Whole requests
  not_found: '{thing} not found: {id}',
  record_not_found: 'collection record not found: {id} is not in the collection {collection}[; it is in {other}]',
  no_route: 'not found: {method} {path}',
  no_format: 'format not found: {name}; known formats: {values}',
  no_webhook: 'the account {id} has no webhook',
  no_image: 'image not found: the catalogue has none at this address',
  image_gone: 'image not found: its source no longer has it',
  not_owner: 'the {thing} {id} does not belong to the caller',
  invalid_action: 'invalid action (must be pause or publish)',
  changed_since_read: 'changed since it was read; read it again and repeat the change',
  taken: 'another {thing} has this {field}',
  ref_taken_by: 'the {thing} {id} has the ref {ref} in {market}',
  already: 'the {thing} is already {state}',
  highlight: 'only a published listing with stock can be highlighted',
  no_credits: 'the account has no highlight credits left',
  rule_not_simulated: 'the rule must be simulated as it is now before it is used; simulate it first',
  intake_closed: 'listing import is not enabled for this account; ask the operator to enable it',
  listing_import_undone: 'the import is already undone',
  changed_since_import: 'it was changed or highlighted after the import',
  sold_since_import: 'units of it were sold after the import',
  intake_full: 'exceeds the limit of {max} listings for this account (unsold listings and parked rows)',
  listing_exists: 'you have the listing {id}; use a price job to change price and stock',
  sku_listed: 'is already the SKU of another listing or row; use a price job to change price and stock',
  too_many_rules: 'an account has at most {max} repricing rules',
  only_active: 'only an active listing can {action}[; this one is {status}]',
  reopen: 'only a published or paused listing can go back to approval; this one is {status}',
  not_renewable: 'only an active, paused or expired listing can be renewed; this one is {status}',
  listing_sold: 'the listing is sold and can no longer be changed',
  listing_expired: 'the listing has expired; its owner must publish it again',
  job_row_again: 'must not name the same listing as row {row}',
  job_refused: 'row {row}: {must}; with the policy all no row is applied [(refused rows: {count})]',
  job_not_planned: 'only a planned price job can be applied; this one is {state}',
  job_rows_deleted: 'the rows of this job were deleted to make room for newer jobs',
  job_plans_full: 'an account has at most {max} rows and {size} MB in plans that are not applied; apply some, or wait until they expire',
  job_not_applied: 'only an applied price job can be undone; this one is {state}',
  changed_since_plan: 'its price or stock has changed since the plan',
  changed_since_job: 'its price or stock has changed since the job',
  order_recorded: 'the order {id} was recorded with another body',
  order_cancelled: 'every line of the order {id} is already cancelled',
  line_cancelled: 'line {line} of the order {id} is already cancelled',
  seller_suspended: 'listing {id}: the account of its seller is suspended',
  seller_on_vacation: 'listing {id}: its seller is on vacation until {to}',
  on_vacation: 'the account is on vacation until {to}',
  not_for_sale: 'listing {id}: {must}; it is {status}',
  stock: 'listing {id}: the order of {wanted} exceeds the stock of {stock}',
  account_suspended: 'the account is suspended',
  webhook_paused: "the account's webhook is paused",
  secret_rotated: 'the previous secret is valid until {until}; rotate the secret again after that, or delete the webhook and save it again',
  webhook_missing: 'the account has no webhook; save one with PUT /plus/webhook',
  events_forgotten: 'the events after this cursor are no longer kept; start again without `after`',
  replay_size: 'must be at most {max} events before {field}, not {count}',
  once_a_minute: 'this is allowed once a minute; try again in {seconds} s',
  key_ended: 'the key is {state}; create a new one instead',
  service_prices: 'prices of the market service are computed from its sales and cannot be set',
  nothing_to_revert: 'import {id} has changed nothing; there is nothing to revert',
  reverted: 'import {id} is already reverted, by import {other}',
  source_set_aside: 'source {market} is already set aside',
  source_not_set_aside: 'source {market} is not set aside',
  merged_already: 'item {id} is already merged into item {into}',
  merged_into_itself: 'item {id} cannot be merged into itself',
  merged_twice: 'item {id} cannot be merged into two items',
  merged_on: 'batch {id} cannot be reverted before batch {other}, which merged item {item} into another one',
  batch_reverted: 'batch {id} is already reverted',
  ref_merged: 'the ref {ref} belongs to an item that is merged into item {id}',
  match_decided: 'match {id} is already {state} by {by}',
  match_undecided: 'match {id} is not decided',
  match_unsettled: 'match {id} would still be undecided; decide its set first, or merge the items',
  set_decided: 'set {id} is already decided by {by}; withdraw that decision first',
  set_undecided: 'set {id} is not decided',
  own_item: 'must not be the item that the record already belongs to',
  other_family: 'must be an item of the same game and language family as the record',
  same_set: 'must be another set',
  other_game: 'must be a set of the same game',
  which_set: 'is required: the set resembles {count} others',
  only_source: 'item {id} has no source other than {source} {foreign}; there is nothing to split',
  not_a_source: 'must be the id that the source has for this item: {values}',
  decision_undone: 'decision {id} is already undone, by {by}',
  undo_none: 'listing {id} has no decision to undo',
  undo_late: 'the decision about listing {id} can be undone only within {seconds} s',
  backtest_failed:
    'a rule can be on only if it passes a backtest of {days} days: it would approve {approve} listings (at least {min}), and people rejected {rejected} of them (at most {percent} %)',
  undo_changed: 'the decision about listing {id} can no longer be undone: the listing has changed since',
  count_changed: 'the filter finds {count} prices, not {expected}; look at them and decide again',
  prices_changed: '{count} of these prices changed since you saw them; look at them and decide again',
  not_decidable: 'cannot be used with {decision}; allowed: {values}',
  archived_prices: 'import {id} has prices in archived months: {values}; restore them with `mintmark archive restore`',
  decided_later: 'prices of import {root} were decided in another batch after import {id}',
  idempotency_running: 'the first request with this Idempotency-Key is still running',
  idempotency_request: 'this Idempotency-Key was used for another request',
  idempotency_credential: 'this Idempotency-Key was used with another credential',

  // Credentials, plans and limits
  only_for: 'this operation is for {who}',
  query_plan: 'the field {name} (character {at} of query) needs the {plan} plan or a larger one; the account has {has}',
  plan: 'this needs the {plan} plan or a larger one; the account has {has}',
  role: 'this needs one of the roles {values}; you have {has}',
  sign_in: 'the name, the password or the code is wrong',
  name_locked: 'too many failed sign-ins with this name; try again in {seconds} s',
  sign_in_busy: 'too many people are signing in at the moment; try again in a few seconds',
  two_factor_first: 'set up two-factor sign-in first: nothing else is allowed before',
  two_factor_not_begun: 'no authenticator app is waiting to be confirmed; begin again',
  own_account_only: 'only owners may see or change the account of somebody else',
  only_people: 'a shared operator token has no password and no authenticator app; sign in with a name',
  last_owner: 'the last owner stays an owner; make somebody else an owner first',
  has_owner: 'there is an owner already; an owner, or the command people invite, lets people begin anew',
  own_pages_only: 'the cookie of a session is valid only for requests of its own pages',
  full_key_only: 'this needs an API key that is neither read-only nor restricted to origins',
  read_only_key: 'this API key is read-only; use one that may write',
  origin_not_allowed: 'this API key is not allowed [from {value}|without an Origin header: it is for web pages]',
  page_not_allowed: 'web pages of {value} may not call this service',
  address_not_allowed: 'this API key is not allowed from the address {value}',
  authorization: 'the Authorization header is {state}: send Authorization: Bearer <{credential}>',
  credential: 'invalid {credential}: {state}',
  rate_limit: 'the {plan} plan allows {limit} requests a minute; try again in {seconds} s',
  too_many_failures: 'too many failed authentications from your address; try again in {seconds} s',

  // Requests that cannot be parsed
  method: 'method not allowed; use {values}',
  unreadable: 'the request cannot be read',
  incomplete: 'the request did not arrive completely',
  host: 'the Host header must be given once, as a host name with an optional port',
  timeout: 'the request did not arrive in time',
  not_http: 'the request is not valid HTTP',
  body_size: 'the body is larger than this endpoint accepts',
  body_length: 'Content-Length does not match the body',
  body_json: 'the body must be JSON in UTF-8, sent with Content-Type: application/json',
  body_encoding: 'Content-Encoding must be one of {values}',
  body_packed: 'the body cannot be decompressed by its Content-Encoding',
  path_encoding: 'the path has invalid percent-encoding',
  accept: 'not acceptable; accept one of {values}',
  batch: 'send one request at a time: batches are not supported',
  query_cost: 'the query costs {cost}; the plan allows {max}; ask for smaller pages or fewer fields',
  introspection_cost: 'the query asks for too much of the schema at once',
  answer_size: 'the answer has more than {max} bytes; ask for smaller pages or fewer fields',
  operation_name: 'the document has no operation named {name}',
  operation_missing: 'the document has several operations; name one with operationName',

  // The service itself
  internal: 'something went wrong on our side; it has been logged',
  database: 'the database is unavailable; try again shortly',
  not_ready: 'the node is {phase}',
  image_late: 'the image source did not respond in time; try again later',
  image_unusable: 'the image source did not return a usable image; try again later',
  dump_store: 'the dump store is unavailable; try again later',
  range: 'the range is outside of the {bytes} bytes of the file',
  dump_elsewhere: 'the newest dump is not readable on this node; try again later',
  price_archive: 'the archive of the price history is unavailable; try again later',
  audit_archive: 'the archive of the audit log is unavailable; try again later',
  image_not_stored: 'the image could not be stored; try again shortly',

  // Requests and files alike
  json: 'invalid JSON in the {part}',
  json_key: 'duplicate key in the {part}: {name}',
  json_object: 'the {part} must be a JSON object',
  utf8: 'the {part} must be UTF-8 text',
  at_most: 'the {part}[ {id}] must have at most {max} {units}[, not {count}][; {advice}]',

  // Files as a whole
  file_empty: 'the file is empty',
  file_format: 'the file is not of the format {format}; expected: {values}',
  file_rows: 'none of the first {count} rows is of the format {format}',
  position: 'must come before {field}',
  gzip_damaged: 'the gzip data is damaged or cut off',
  gzip_ratio: 'the gzip data expands to more than {max} times its size',
  line_size: 'line {line} is longer than {max} MB: the file is not {format}',
  csv: 'the CSV cannot be read: {cause}',
  header: 'the header must have [the columns {columns}|one of the columns {any}][; it has {values}]',
  header_twice: 'the header has the column "{value}" twice',
  members: 'no row has one of the fields {values}',
  import_stopped: 'the import failed because of an internal error; it has been logged',
  import_memory: 'the import needed more than {max} MB of memory; nothing was written; split the file',
  import_interrupted: 'the service stopped during the import; nothing was written; send it again',

  // Rows of files
  several: '{problems}',
  other: 'other reasons',
  row_format: 'the row is not of the format {format}',
  row_cells: 'the row has {count} cells, the header {other}',
  row_again: 'the {thing} {ref} ({name}) is a duplicate of line {line}',
  lacks: 'the {thing} [{id} ]has no {field}',
  cells: 'each cell must have at most {max} characters and no NUL character',
  id: 'must be an id, not "{value}"',
  encoding: 'must be in {encoding}, not "{value}"',
  two_readings: '"{value}" is ambiguous; state the decimal separator of the list',
  other_currency: 'must be in {currency}, not "{value}"',
  day_or_time: 'must be a date or a time in ISO 8601, not "{value}"',
  no_rate: 'has no BRL rate for that day',
  no_rate_between: 'there is no rate from {from} to {to} on {date}; load one',
  no_item: 'the row does not name an item',
  no_set_named: 'the row does not name a set, and "{name}" can be of several',
  unknown_set: 'no set of the catalogue has the name or code "{set}"',
  several_items: 'several items match "{name}": {items}',
  finish_unknown: 'no item that matches "{name}" has the finish "{finish}"',
  no_match: 'no item matches "{name}" in name, number and set[; similar items: {items}]',
  no_ref: 'no item has the ref {ref}',
  refs: 'items of {markets} have the ref {ref}; use the id of the item',
  no_foreign_id: 'no item has the {source} id {id}',
  no_finish: 'no item with the {source} id {id} has the finish {finish}',
  no_category: 'the category {ref} is not in the catalogue; import it first',
  own_parent: 'the category {ref} cannot be its own parent',
  no_group: 'the group {ref} does not exist',
  no_set: 'the id {id} does not name a set',
  product_category: 'product {id} has the category "{value}", which has no cards or sealed products',
  pack_language: 'the language of the pack {id} is unknown',
  other_set: 'names the set "{value}", but the row the set "{other}"',

  // Held prices, by the rule that holds them
  foreign_id: 'the {source} id {id} is on items {items}',
  future_date: 'dated {date}, more than {hours} hours ahead',
  slip: '{price} while its source gives {average} as the average',
  jump: '{price} after {last}',
  disagreement: '{price} while the other sources say {prices}',
  grade_order: 'a PSA 10 at {price} while Near Mint is at {last}',
  withdrawn: 'withdrawn by {by}',

  // Why a repricing rule sets a price, or does not
  price_target: 'the target is {target}[; the cheapest comparable listing {listing} costs {price}][; prices ignored as too low: {ignored}]',
  price_at_floor:
    'the target of {target} is below the floor of {floor}[; the cheapest comparable listing {listing} costs {price}][; prices ignored as too low: {ignored}]',
  price_below_floor: 'the price was below the floor of {floor}',
  price_at_ceiling:
    'the target of {target} is above the ceiling of {ceiling}[; the cheapest comparable listing {listing} costs {price}][; prices ignored as too low: {ignored}]',
  price_above_market:
    'the target of {target} is more than {factor} times the market price of {market_price}; set a ceiling to allow it[; the cheapest comparable listing {listing} costs {price}][; prices ignored as too low: {ignored}]',
  price_unbounded:
    'the target of {target} is higher, but there is no trusted market price; set a ceiling to allow raises[; the cheapest comparable listing {listing} costs {price}][; prices ignored as too low: {ignored}]',
  price_move:
    'the target of {target} is more than {percent} % away[; the cheapest comparable listing {listing} costs {price}][; prices ignored as too low: {ignored}]',
  price_few: 'there are too few comparable prices: {count} of {min}',
  price_untrusted: '{market} has no trusted price',
  price_no_rate: 'there is no exchange rate for {currency}',
  price_out_of_range: 'the floor is above the highest price a listing may have',

  // What to check before a price job is applied
  price_large_change: 'the price changes by more than {percent} % from {old}',
  price_far_above: 'the price is more than {factor} times the market price of {price}',
  price_far_below: 'the price is less than the market price of {price} divided by {factor}',

  // Rows of collections whose item must be chosen manually
  fits_several: 'several items match',
  fits_none: 'no item matches in name, number, set and printing',
  like_none: 'no similar item was found',
  grade_missing: 'the item has no grade {name}',

  // Parts of health check findings
  database_embedded: 'the embedded PostgreSQL',
  database_at_url: 'PostgreSQL at DATABASE_URL',
  replica_other: 'it is not a streaming replica of this database',
  replica_promoted: 'it is no longer a standby',
  store_answers: 'it answers {answer}[ {code}]',
  // Messages of other programs
  said: '{text}',
  prices_covered: '{group} {prices} ({percent} %)',
} as const

export type Rule = keyof typeof RULES

export type Value = string | number | readonly string[] | readonly number[] | Reason | readonly Reason[]
export type Params = Readonly<Record<string, Value>>

type NameIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never
/** Splits a text into its parts in brackets and the text outside of them. */
type Always<Text extends string> = Text extends `${infer Head}[${string}]${infer Tail}` ? `${Head}${Always<Tail>}` : Text
type Sometimes<Text extends string> = Text extends `${string}[${infer Part}]${infer Tail}` ? `${Part}${Sometimes<Tail>}` : ''
type ValueOf<Name> = Name extends (typeof TERM_PARAMS)[number]
  ? Term
  : Name extends 'must' | 'each'
    ? Reason
    : Name extends 'options' | 'problems'
      ? readonly Reason[]
      : Name extends 'fields'
        ? readonly string[]
        : Name extends 'field'
          ? string
          : string | number | readonly string[] | readonly number[]
type RequiredName<R extends Rule> = NameIn<Always<(typeof RULES)[R]>>
type OptionalName<R extends Rule> = NameIn<Sometimes<(typeof RULES)[R]>>
type ParamsOf<R extends Rule> = { [Name in RequiredName<R>]: ValueOf<Name> } & { [Name in OptionalName<R>]?: ValueOf<Name> }
export type ReasonParams<R extends Rule> = [RequiredName<R>] extends [never]
  ? [OptionalName<R>] extends [never]
    ? []
    : [params?: ParamsOf<R>]
  : [params: ParamsOf<R>]

/** The reason for a rejection. */
export interface Reason {
  rule: Rule
  params: Params
}

/** An invalid field: its name as the caller wrote it, and the rule that it breaks. */
export interface Problem extends Reason {
  field: string
}

/** Builds a reason from its rule; the compiler requires the parameters that the rule's text has. */
export function reason<R extends Rule>(rule: R, ...[params]: ReasonParams<R>): Reason {
  return { rule, params: params ?? {} }
}

/** A problem of a field, built as `reason` does. */
export function problem<R extends Rule>(field: string, rule: R, ...[params]: ReasonParams<R>): Problem {
  return { field, rule, params: params ?? {} }
}

/** The texts of one language. */
export interface Words {
  rules: Readonly<Record<Rule, string>>
  /** in English a term is its own text */
  terms?: Readonly<Record<Term, string>>
  /** the decimal separator; a point in English */
  decimal?: string
}

const ENGLISH: Words = { rules: RULES }

/** A reason in English; a problem begins with its field. */
export function textOf(of: Reason | Problem): string {
  return textIn(ENGLISH, of)
}

/** Combines several problems of one value into one reason. */
export function combineProblems(problems: readonly Problem[]): Reason {
  return problems.length === 1 ? problems[0]! : reason('several', { problems })
}

/** A reason in a language; a problem begins with its field. */
export function textIn(words: Words, of: Reason | Problem): string {
  const text = fillTemplate(words.rules[of.rule], of.params, words)
  return 'field' in of ? `${of.field} ${text}` : text
}

/** Replaces the `{names}` of a text. Of `[a|b]`, the first alternative whose parameters are all given is used. */
export function fillTemplate(template: string, params: Params, words: Words = ENGLISH): string {
  let text = ''
  for (const parts of pieces(template)) {
    const part = parts.find(({ names }) => names.every((name) => params[name] !== undefined))
    part?.texts.forEach((before, i) => {
      text += i === 0 ? before : formatValue(words, part.names[i - 1]!, params[part.names[i - 1]!]!) + before
    })
  }
  return text
}

/** The texts between the parameters: one more than there are parameters. */
interface Part {
  texts: readonly string[]
  names: readonly string[]
}

const parsed = new Map<string, readonly (readonly Part[])[]>()

/** The pieces of a rule's text; of each piece, the first alternative whose parameters are all given is used. */
function pieces(template: string): readonly (readonly Part[])[] {
  let found = parsed.get(template)
  if (!found) {
    // Splitting by a pattern with a group leaves the group's matches at odd positions.
    found = template.split(/\[([^[\]]*)\]/).map((piece, i) => (i % 2 === 1 ? piece.split('|') : [piece]).map(partOf))
    parsed.set(template, found)
  }
  return found
}

function partOf(text: string): Part {
  const split = text.split(/\{(\w+)\}/)
  return { texts: split.filter((_, i) => i % 2 === 0), names: split.filter((_, i) => i % 2 === 1) }
}

function formatValue(words: Words, name: string, value: Value | undefined): string {
  if ((TERM_PARAMS as readonly string[]).includes(name)) return words.terms?.[value as Term] ?? (value as string)
  if (isList(value)) return value.map((one) => formatValue(words, name, one)).join(name === 'problems' ? '; ' : ', ')
  if (isReason(value)) return textIn(words, value)
  return typeof value === 'number' ? String(value).replace('.', words.decimal ?? '.') : String(value)
}

export interface FieldNaming {
  nameOf: (field: string) => string
  /** whether a field may appear in the list of allowed fields */
  isKnown?: (name: string) => boolean
}

/** The same reason with fields named in another style. */
export function renameFields<Of extends Reason>(of: Of, naming: FieldNaming): Of {
  const { nameOf, isKnown = () => true } = naming
  return mapValues(of, (name, value) => {
    if (name === 'field') return nameOf(value as string)
    return name === 'fields' ? (value as string[]).map(nameOf).filter(isKnown) : value
  })
}

/** The same reason with each value replaced by `change`, including the fields of problems and the values of nested reasons. */
export function mapValues<Of extends Reason>(of: Of, change: (name: string, value: Value) => Value): Of {
  const params: Record<string, Value> = {}
  for (const [name, value] of Object.entries(of.params)) {
    if (isReason(value)) params[name] = mapValues(value, change)
    else if (isList(value) && isReason(value[0])) params[name] = (value as readonly Reason[]).map((one) => mapValues(one, change))
    else if (value !== undefined) params[name] = change(name, value)
  }
  return { ...of, ...('field' in of && { field: change('field', of.field as string) }), params }
}

function isReason(value: Value | undefined): value is Reason {
  return typeof value === 'object' && 'rule' in value
}

function isList(value: Value | undefined): value is readonly string[] | readonly number[] | readonly Reason[] {
  return Array.isArray(value)
}
