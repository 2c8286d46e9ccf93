// What both edges hand to a verb besides its input.

/** Where lines of the log go; pino's shape. */
export interface Log {
  error(details: object, message: string): void
  warn(details: object, message: string): void
  info(details: object, message: string): void
  debug(details: object, message: string): void
}

/** Where lines without fields go; a `Log` takes them too. */
export interface TextLog {
  info(line: string): void
  warn(line: string): void
}
