// Parts of the context that every API passes to a verb.

/** Sink of log lines; has pino's shape. */
export interface Log {
  error(details: object, message: string): void
  warn(details: object, message: string): void
  info(details: object, message: string): void
  debug(details: object, message: string): void
}

/** Sink of log lines without fields; a `Log` can be passed too. */
export interface TextLog {
  info(line: string): void
  warn(line: string): void
}
