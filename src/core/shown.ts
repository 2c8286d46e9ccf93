// The records that a response shows, for counting how often each is shown.

/** Records by id, with the account that owns each; compared by identity, so one object stands for all responses with the same content. */
export interface Shown {
  ids: Int32Array
  owners: Int32Array
}
