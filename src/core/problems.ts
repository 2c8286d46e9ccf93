// Why something is refused: a rule and its parameters. People's texts are made from them, in any language and naming style.

/** What the parameter `thing` can name. */
export const THINGS = [
  'account', 'card', 'category', 'collection', 'collection record', 'grade', 'held price', 'import', 'item', 'key', 'listing',
  'operator token', 'order', 'pack', 'parked row', 'product', 'series', 'set', 'webhook event',
] as const
export type Thing = (typeof THINGS)[number]

/**
 * Every rule with its English text. `{field}` and `{fields}` are names of fields, `{thing}` is one of `THINGS`; `{must}`,
 * `{each}`, `{options}` and `{problems}` are refusals of their own; all others are values.
 */
export const RULES = {
  // Fields by their schema
  required: 'is required and {must}',
  unknown_field: 'is not allowed here; allowed fields: {fields}',
  invalid: 'is not valid',
  only_once: 'must be given only once',
  at_least_one: 'must have at least one of {fields}',
  exactly_one: 'must be given, or {field}, but not both',
  in_path: 'must not be in the body: it is in the path',
  in_query: 'must not be in the body: it is in the query',
  null: 'must be null',
  or_null: '{must}, or null',
  any_of: '{options}',
  integer: 'must be a whole number',
  integer_between: 'must be a whole number between {min} and {max}',
  integer_from: 'must be a whole number of at least {min}',
  integer_to: 'must be a whole number of at most {max}',
  nonzero: 'must be a whole number between {min} and {max}, except 0',
  number: 'must be a number',
  number_between: 'must be a number between {min} and {max}',
  number_from: 'must be a number of at least {min}',
  number_to: 'must be a number of at most {max}',
  number_above: 'must be a number above {min}',
  number_above_to: 'must be a number above {min} and at most {max}',
  amount_between: 'must be a number between {min} and {max} with at most two decimals',
  amount_above: 'must be a number above {min} with at most two decimals',
  amount_above_to: 'must be a number above {min} and at most {max}, with at most two decimals',
  amount_text: 'must be an amount as text with at most two decimals, such as {example}',
  two_decimals: 'must have at most two decimals',
  above_zero: 'must be above 0',
  boolean: 'must be true or false',
  flag: 'must be 1 or 0',
  one_of: 'must be one of {values}',
  text: 'must be text',
  text_length: 'must be text of {min} to {max} characters',
  text_from: 'must be text of at least {min} characters',
  text_to: 'must be text of at most {max} characters',
  text_line: 'must be text of at most {max} characters on one line',
  text_visible: 'must be text of {min} to {max} visible characters on one line, without bidirectional controls',
  text_visible_to: 'must be text of at most {max} visible characters on one line, without bidirectional controls',
  text_trimmed: 'must be text of {min} to {max} visible characters, without spaces at its ends and bidirectional controls',
  text_plain: 'must be text of at most {max} characters without bidirectional controls',
  pattern: '{must} that matches {pattern}',
  slug: 'must be lower-case words and digits joined with "-"',
  url: 'must be a URL',
  http_url: 'must be an http or https URL',
  url_scheme: 'must be a URL that begins with {values}',
  url_credentials: 'must not contain a user name or password',
  url_port: 'must have a port between {min} and {max}',
  url_private: 'must not be a private or otherwise special address',
  currency: 'must be a currency of three capital letters, such as USD',
  language: 'must be a language such as en, tr or ja, of at most {max} characters',
  label: 'must be a condition, such as Near Mint, or a grader with a grade, such as PSA 10',
  file_name: 'must be a file name of at most {max} characters, without folders',
  header_key: 'must be {min} to {max} visible ASCII characters',
  needs_credential: 'is allowed only with an API key, an operator token or a console session',
  not_supported: 'is not supported by this operation; send the request without it',
  operator_token: 'must be an operator token',
  cursor: 'must be an endCursor of this list',
  cursor_of: 'must be an endCursor of a list sorted by {values}',
  list: 'must be a list',
  list_to: 'must be a list of at most {max} entries',
  list_length: 'must be a list of {min} to {max} entries',
  list_body: 'must be the body itself: a list of at most {max} prices',
  list_of: '{must}; each entry {each}',
  object: 'must be an object',
  object_filled: 'must be an object with at least one field',
  time: 'must be a time in ISO 8601 with an offset between {from} and {to}, such as {example}',
  time_utc: 'must be a time in UTC, such as {example}',
  time_exists: 'must be a time that exists between {from} and {to}',
  date: 'must be a date written YYYY-MM-DD between {from} and {to}',
  in_future: 'must be in the future',
  not_in_future: 'must not be in the future',
  not_before: 'must not be before {from}',
  before: 'must be before {field}',
  period: 'must be at most {max} days before {field}',

  // Fields by what is stored
  unknown_id: 'must be the id of an existing {thing}, not {id}',
  not_a_grade: 'must be the id of a grade; {id} is the group {name}',
  needs_grade: 'must be given: there is no grade {name}',
  type_id: 'must be null or the id of a type below a group (GET /groups)',
  group_ids: 'must be ids of groups: {values}',
  grade_of_item: 'must be a grade of the item, not {name}; possible: {values}',
  category_market: 'must be a category of {market}; this one is of {other}',
  market_fixed: 'must stay {market}: the items of a category are of its market',
  own_descendant: 'must not be the category itself or one below it',
  same_order: 'must not have two images with the same order',
  not_above: 'must not be above {field}',
  not_below: 'must not be below the {field} of {min}',
  balance_below: 'must not take the balance of {balance} below {min}',
  balance_above: 'must not take the balance of {balance} above {max}',
  rate: 'must be of a day from {from} on and of a currency other than TRY',
  file: 'cannot be read: {must}',
  catalogue_changed: 'was matched to a catalogue that has changed; send it again',

  // Whole requests
  not_found: '{thing} not found: {id}',
  record_elsewhere: 'collection record not found: {id} is in the collection {other}, not in {collection}',
  record_not_found: 'collection record not found: no record {id} in the collection {collection}',
  no_route: 'not found: {method} {path}',
  no_format: 'format not found: {name}; known formats: {values}',
  no_webhook: 'the account {id} has no webhook',
  not_owner: 'the {thing} {id} does not belong to the caller',
  invalid_action: 'invalid action (must be pause or publish)',
  changed_since_read: 'changed since it was read; read it again and repeat the change',
  ref_taken: 'another {thing} has this ref',
  ref_taken_by: 'the {thing} {id} has the ref {ref} in {market}',
  slug_taken: 'another {thing} has this slug',
  highlight_unpublished: 'only a published listing can be highlighted',
  highlight_unstocked: 'only a published listing can be highlighted; this one has no stock',
  no_credits: 'the account has no highlight credits left',
  only_active_sells: 'only an active listing can be sold',
  only_active_pauses: 'only an active listing can be paused; this one is {status}',
  only_active_expires: 'only the period of an active listing can end',
  listing_sold: 'the listing is sold and cannot be changed any more',
  listing_waits: 'the listing waits for approval already',
  listing_active: 'the listing is active already',
  listing_paused: 'the listing is paused already',
  listing_approved: 'the listing is approved already',
  listing_approved_paused: 'the listing is approved already; its owner has paused it',
  listing_rejected: 'the listing is rejected already',
  listing_expired: 'the period of the listing has ended; its owner has to publish it again',
  sold_not_paused: 'a sold listing cannot be paused',
  sold_not_published: 'a sold listing cannot be published again',
  order_recorded: 'the order {id} was recorded with another body',
  seller_suspended: 'listing {id}: the account of its seller is suspended',
  not_for_sale: 'listing {id}: {must}; it is {status}',
  stock: 'listing {id}: the order of {wanted} exceeds the stock of {stock}',
  row_decided: 'the row is {state} already',
  price_decided: 'the price is {state} already',
  event_queued: 'the event is queued already',
  account_suspended: 'the account is suspended',
  webhook_suspended: 'the account is suspended; its webhook is not called until it is resumed',
  webhook_paused: "the account's webhook is paused",
  webhooks_of_accounts: 'webhooks belong to accounts',
  collections_of_accounts: 'only an account has collections of its own',
  key_revoked: 'the key is revoked; create a new one instead',
  key_expired: 'the key has expired; create a new one instead',
  service_prices: 'the prices of the service follow from its sales',
  nothing_to_revert: 'import {id} has changed nothing; there is nothing to revert',
  reverted: 'import {id} is already reverted, by import {other}',
  decided_later: 'another batch decided on prices of import {root} after import {id}',
  idempotency_running: 'the first request with this Idempotency-Key is still running',
  idempotency_request: 'this Idempotency-Key was used for another request',
  idempotency_credential: 'this Idempotency-Key was used with another credential',

  // Credentials, plans and limits
  operators_only: 'this operation is for operators',
  plan: 'this needs the {plan} plan or a larger one; the account has {has}',
  console_only: "the console's cookie is valid only for requests of the console",
  credential_missing: 'the Authorization header is missing: send Authorization: Bearer <{credential}>',
  credential_header: 'invalid Authorization header: send Authorization: Bearer <{credential}>',
  credential_malformed: 'invalid {credential}: malformed',
  credential_unknown: 'invalid {credential}: unknown',
  credential_revoked: 'invalid {credential}: revoked',
  credential_expired: 'invalid {credential}: expired',
  session_revoked: 'the operator token of this session is revoked',
  rate_limit: 'the {plan} plan allows {limit} requests a minute; try again in {seconds} s',
  too_many_failures: 'too many failed authentications from your address; try again in {seconds} s',

  // Requests that cannot be read
  method: 'method not allowed; use {values}',
  mutation_by_post: 'method not allowed; send mutations by POST',
  unreadable: 'the request cannot be read',
  incomplete: 'the request did not arrive completely',
  host_missing: 'the Host header is missing',
  host_invalid: 'the Host header must be given once, as a host name with an optional port',
  headers_size: 'the headers are larger than 32 KB',
  timeout: 'the request did not arrive in time',
  not_http: 'the request is not valid HTTP',
  body_size: 'the body is larger than this endpoint accepts',
  body_length: 'Content-Length does not match the body',
  body_object: 'the body must be a JSON object',
  body_json: 'the body must be JSON in UTF-8, sent with Content-Type: application/json',
  body_encoding: 'Content-Encoding must be one of {values}',
  body_packed: 'the body is not compressed as its Content-Encoding says',
  body_utf8: 'the body is not valid UTF-8',
  path_encoding: 'the path is not validly encoded',
  json: 'invalid JSON in {part}',
  json_depth: 'more than {max} levels of nesting in {part}',
  json_key: 'duplicate key in {part}: {name}',
  file_size: 'the file is larger than {max} bytes; split it, or use the command line',
  accept: 'not acceptable; accept one of {values}',
  batch: 'send one request at a time: batches are not supported',
  query_object: 'the body must be a JSON object with the field query',
  argument_once: '{name} must be given only once',
  argument_text: '{name} must be text',
  argument_object: '{name} must be an object',
  document_size: 'the document has {count} characters; at most {max} are allowed',
  document_nesting: 'the document is nested too deeply',
  document_tokens: 'the document has {count} tokens; at most {max} are allowed',
  document_depth: 'the document is {count} levels deep; at most {max} are allowed',
  document_aliases: 'the document has {count} aliases; at most {max} are allowed',

  query_cost: 'the query costs {cost}; the plan allows {max}; ask for smaller pages or fewer fields',
  introspection_cost: 'the query asks for too much of the schema at once',
  answer_size: 'the answer has more than {max} bytes; ask for smaller pages or fewer fields',
  operation_name: 'the document has no operation named {name}',
  operation_missing: 'the document has several operations; name one with operationName',

  // The service itself
  internal: 'something went wrong on our side; it has been logged',
  database: 'the service cannot reach its database at the moment; try again shortly',
  not_ready: 'the node is {state}',

  // Files as a whole
  file_empty: 'the file is empty',
  file_utf8: 'the file is not UTF-8 text',
  file_json: 'the file is not a valid JSON document',
  file_list: 'the file is not a JSON object with a list "{name}"',
  file_format: 'the file is not of the format {format}; expected: {values}',
  file_rows: 'none of the first {count} rows is of the format {format}',
  file_too_many: 'the file has more than {max} rows; split it',
  file_size_mb: 'the file is larger than {max} MB; split it',
  too_many: 'at most {max} are possible: {thing}; split the file',
  position: 'must come before {field}',
  document_levels: 'the JSON document is nested deeper than {max} levels',
  entry_size: 'an entry of the JSON document is larger than {max} MB',
  header_size: 'the header has more than {max} columns',
  gzip_damaged: 'the gzip data is damaged or cut off',
  gzip_ratio: 'the gzip data unpacks to more than {max} times its size',
  line_size: 'line {line} is longer than {max} MB: the file is not {format}',
  csv: 'the CSV cannot be read: {cause}',
  header_columns: 'the header has no column {values}',
  header_column: 'the header has none of the columns {values}',
  import_stopped: 'the import was stopped by an error of the service; it has been logged',
  import_memory: 'the import needed more than {max} MB of memory; nothing was written; split the file',
  import_interrupted: 'the service stopped during the import; nothing was written; send it again',

  // Rows of files
  several: '{problems}',
  other: 'other reasons',
  row_format: 'the row is not of the format {format}',
  row_cells: 'the row has {count} cells, the header {other}',
  row_json: 'the line is not valid JSON',
  row_object: 'the line is not a JSON object',
  entry_object: 'the entry is not a JSON object',
  row_again: 'the {thing} {ref} ({name}) is a duplicate of line {line}',
  lacks: 'the {thing} has no {field}',
  lacks_of: 'the {thing} {id} has no {field}',
  printings: 'the card {id} has more than {max} printings',
  missing: 'is missing',
  missing_any: 'one of {fields} is missing',
  cells: 'each cell must have at most {max} characters and no NUL character',
  not_amount: 'must be an amount up to 9,999,999,999.99, not "{value}"',
  not_integer: 'must be a whole number between {min} and {max}, not "{value}"',
  not_cents: 'must be a whole number of cents, not "{value}"',
  not_date: 'must be a date, not "{value}"',
  not_time: 'must be a time with a zone, not "{value}"',
  not_id: 'must be an id, not "{value}"',
  not_market: 'must be one of {values}, not "{value}"',
  not_label: 'must be a condition or a grader with a grade, not "{value}"',
  not_printing: 'must be a known printing, not "{value}"',
  not_plain: 'must be a plain printing, not "{value}"',
  date_between: 'must be a date between {from} and {to}',
  no_date: 'the price has no date',
  no_rate: 'has no BRL rate for that day',
  no_ref: 'no item has the ref {ref}',
  refs: 'items of {markets} have the ref {ref}; use the id of the item',
  no_foreign_id: 'no item has the {source} id {id}',
  no_finish: 'no item with the {source} id {id} has the finish {finish}',
  no_item: 'names no item: there is none with the id {id}',
  no_parent: 'the parent category {ref} is not in the catalogue; import it first',
  no_category: 'the category {ref} is not in the catalogue; import it first',
  own_parent: 'the category {ref} cannot be its own parent',
  no_group: 'the group {ref} does not exist',
  no_set: 'the id {id} does not name a set',
  category_unknown: 'the product {id} has an unknown category: "{value}"',
  coin: 'a coin is neither a card nor a sealed product',
  pack_language: 'the language of the pack {id} is unknown',
  card_language: 'the language of the pack {value} of the card {id} is unknown',
  other_set: 'names the set "{value}", but the row the set "{other}"',

  // Prices held back, by the rule that holds them
  foreign_id: 'the {source} id {id} is on items {items}',
  future_date: 'dated {date}, more than {hours} hours ahead',
  jump: '{price} after {last}',
  disagreement: '{price} while the other sources say {prices}',
  grade_order: 'a PSA 10 at {price} while Near Mint is at {last}',

  // Rows of collections that wait for someone to name their item
  fits_several: 'several items match',
  fits_none: 'no item matches in name, number, set and printing',
  like_none: 'no similar item was found',
  grade_missing: 'the item has no grade {name}',
} as const

export type Rule = keyof typeof RULES

type Value = string | number | readonly string[] | readonly number[] | Reason | readonly Reason[]
export type Params = Readonly<Record<string, Value>>

type NameIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never
type ValueOf<Name> = Name extends 'thing' ? Thing
  : Name extends 'must' | 'each' ? Reason
  : Name extends 'options' | 'problems' ? readonly Reason[]
  : Name extends 'fields' ? readonly string[]
  : Name extends 'field' ? string
  : string | number | readonly string[] | readonly number[]
type ParamsOf<R extends Rule> = { [Name in NameIn<(typeof RULES)[R]>]: ValueOf<Name> }
export type Given<R extends Rule> = [NameIn<(typeof RULES)[R]>] extends [never] ? [] : [params: ParamsOf<R>]

/** Why something is refused. */
export interface Reason {
  rule: Rule
  params: Params
}

/** What is wrong with a field: its name as the caller wrote it, and the rule that it breaks. */
export interface Problem extends Reason {
  field: string
}

/** A reason by its rule; the compiler asks for the parameters that the rule's text has. */
export function reason<R extends Rule>(rule: R, ...[params]: Given<R>): Reason {
  return { rule, params: params ?? {} }
}

/** A problem of a field, as `reason`. */
export function problem<R extends Rule>(field: string, rule: R, ...[params]: Given<R>): Problem {
  return { field, rule, params: params ?? {} }
}

/** The texts of one language. */
export interface Words {
  rules: Readonly<Record<Rule, string>>
  /** in English a thing is called as its parameter says */
  things?: Readonly<Record<Thing, string>>
}

const ENGLISH: Words = { rules: RULES }

/** A reason in English; a problem begins with its field. */
export function textOf(of: Reason | Problem): string {
  return textIn(ENGLISH, of)
}

/** Several problems of one thing as one reason. */
export function together(problems: readonly Problem[]): Reason {
  return problems.length === 1 ? problems[0]! : reason('several', { problems })
}

/** A reason in a language; a problem begins with its field. */
export function textIn(words: Words, of: Reason | Problem): string {
  const text = words.rules[of.rule].replace(/\{(\w+)\}/g, (_all, name: string) => shown(words, name, of.params[name]))
  return 'field' in of ? `${of.field} ${text}` : text
}

function shown(words: Words, name: string, value: Value | undefined): string {
  if (name === 'thing') return words.things?.[value as Thing] ?? (value as Thing)
  if (isList(value)) return value.map((one) => shown(words, name, one)).join(name === 'problems' ? '; ' : ', ')
  return isReason(value) ? textIn(words, value) : String(value)
}

export interface Naming {
  nameOf: (field: string) => string
  /** whether a field can be named among those that are allowed */
  isKnown?: (name: string) => boolean
}

/** The same with fields named in another way. */
export function named<Of extends Reason>(of: Of, naming: Naming): Of {
  const { nameOf, isKnown = () => true } = naming
  const renamed = (name: string, value: Value): Value => {
    if (name === 'field') return nameOf(value as string)
    if (name === 'fields') return (value as string[]).map(nameOf).filter(isKnown)
    if (isList(value)) return value.map((one) => (isReason(one) ? named(one, naming) : one)) as Value
    return isReason(value) ? named(value, naming) : value
  }
  const params = Object.fromEntries(Object.entries(of.params).map(([name, value]) => [name, renamed(name, value)]))
  return { ...of, params, ...('field' in of && { field: nameOf(of.field as string) }) }
}

function isReason(value: Value | undefined): value is Reason {
  return typeof value === 'object' && 'rule' in value
}

function isList(value: Value | undefined): value is readonly string[] | readonly number[] | readonly Reason[] {
  return Array.isArray(value)
}
