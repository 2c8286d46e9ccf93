// How a file of an import format is recognised: by columns of its header line, or keys of its JSON.

/**
 * A file matches if all names are columns of its header line (`csv`), or if all names are keys in its
 * first 4,096 characters (`json`). A file never matches the marks of two formats.
 */
export interface FileMark {
  type: 'csv' | 'json'
  names: readonly string[]
}
