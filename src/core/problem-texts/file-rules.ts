// Rules of files and their rows, and of what follows from them, with their English texts.

/** As `RULES`. */
export const FILE_RULES = {
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
  columns_unclear: 'the columns {values} could all be {column}; keep one of them, or name it {column}',
  columns_mapped: 'the columns {values} all hold {column}, by what you saved or by their names; save null for all but one',
  members: 'no row has one of the fields {values}',
  import_stopped: 'the import failed because of an internal error; it has been logged',
  import_memory: 'the import needed more than {max} MB of memory; nothing was written; split the file',
  import_interrupted: 'the service stopped during the import; nothing was written; send it again',

  // Files of public sources
  source_connection: 'cannot connect to {url}: {cause}',
  source_https: '{url} is not an https address',
  source_redirects: '{url} redirects more than {max} times',
  source_status: '{url} responded with status {value}',
  source_wait: '{url} asks to wait {count} seconds; fetch the source again after that',
  source_cut_off: '{url} was not sent completely; fetch the source again to resume',
  source_slow: '{url} sent fewer than {min} bytes in {count} seconds; fetch the source again to resume',
  source_size: '{url} has more than {max} bytes',
  source_encoding: '{url} was sent with the Content-Encoding {value}, which was not asked for',
  source_json: '{url} is not JSON',
  source_index: '{url} is not the document that names the files of the source',
  source_checksum: 'the checksum of {url} is not the one that the source publishes',
  source_disk: 'the disk has {max} MB free; the download needs {min} MB',
  source_folder: 'the folder {path} cannot be written: {cause}; change the owner of DATA_DIR',
  fetch_stopped: 'the fetch failed because of an internal error; it has been logged',
  fetch_interrupted: 'the service stopped during the download; fetch the source again to resume',

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
  after_recorded: 'is {value}, after the list recorded the row on {other}; if its years are guesses, set `years` to guessed',
  mixed_values:
    'the column {column} holds means of offers, averages and sales, which are the price of no market; import the full files as {format}, which uses their sources',
  no_rate_between:
    'converting {from} to {to} needs an exchange rate for {missing} from {date} or earlier; load one with `mintmark rates set` or `mintmark rates import`',
  feed_drift:
    'the prices of {market}[ in the set {set}] are off as a whole: the median of {cards} prices is {factor} times [those of {other}|the last ones][. This looks like {from} sent as {to}]; nothing was imported. To import them nevertheless, set `accept_drift`',
  no_item: 'the row does not name an item',
  no_set_named: 'the row does not name a set, and "{name}" can be of several',
  unknown_set: 'no set of the catalogue has the name or code "{set}"',
  several_items: 'several items match "{name}": {items}',
  finish_unknown: 'no item that matches "{name}" has the finish "{finish}"',
  no_match: 'no item matches "{name}" in name, number and set[; similar items: {items}]',
  no_ref: 'no item has the ref {ref}',
  refs: 'items of {markets} have the ref {ref}; use the id of the item',
  id_withdrawn: 'the source {source} has withdrawn the id {id}; its item stays until an operator merges or deletes it',
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
  price_below_cost: 'the price is below the {cost} that a copy in your collection cost on average',

  // Rows of collections whose item must be chosen manually
  card_fits_none: 'fits no item in set, number and finish',
  card_fits_several: 'fits several items; name its finish, or use `item_id`',
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
