// A restore that did not reach what was asked for; the message says what is missing.
export class DrillError extends Error {
  override name = 'DrillError'
}
