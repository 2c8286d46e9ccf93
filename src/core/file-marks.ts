// What a file of an import format is recognised by: columns of its header line, or keys of its JSON.

/**
 * A file bears the mark when all names are columns of its header line (`csv`), or all names are keys in its
 * first 4,096 characters (`json`). The marks of two formats never fit the same file.
 */
export interface FileMark {
  type: 'csv' | 'json'
  names: readonly string[]
}
