// Why a download failed, and whether trying again can help.
import { type Reason, textOf } from '#core/problems.ts'

export interface Retry {
  /** least time until the next attempt, as the source asked for; default: none */
  afterMs?: number
  /** whether one more attempt is enough to know: the file that the source sends is wrong */
  once?: boolean
}

/** A file could not be downloaded, for this reason. */
export class DownloadFailure extends Error {
  override name = 'DownloadFailure'
  readonly why: Reason
  /** null: another attempt would fail in the same way */
  readonly retry: Retry | null

  constructor(why: Reason, retry: Retry | null = null, cause?: unknown) {
    super(textOf(why), { cause })
    this.why = why
    this.retry = retry
  }
}
