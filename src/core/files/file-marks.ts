// Recognises files of an import format by columns of their header line, or keys of their JSON.

/**
 * A file matches if all names are columns of its header line (`csv`), or if all names are keys in its
 * first 4,096 characters (`json`). A file never matches the marks of two formats.
 */
export interface FileMark {
  type: 'csv' | 'json'
  names: readonly string[]
}
