// Answers that everyone on a plan gets alike and that nothing keeps as bytes: written at once, with an entity tag of what they say.
import { hash } from 'node:crypto'
import { type Answer, successBody } from './envelope.ts'
import type { ReadyAnswer } from './route.ts'

/** The answer in the envelope, tagged. */
export function taggedAnswer(answer: Answer): ReadyAnswer {
  return taggedBytes(Buffer.from(JSON.stringify(successBody(answer))))
}

/** A whole body, tagged. */
export function taggedBytes(bytes: Buffer): ReadyAnswer {
  return { tag: `"${hash('sha1', bytes, 'base64url')}"`, bytes: () => bytes }
}
