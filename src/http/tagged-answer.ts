// Responses shared by all clients of a plan that are not cached as bytes: serialised on demand, with an entity tag of their content.
import { hash } from 'node:crypto'
import { type Answer, successBody } from './envelope.ts'
import type { ReadyAnswer } from './route.ts'

/** The response in the envelope, with its tag. */
export function taggedAnswer(answer: Answer): ReadyAnswer {
  return taggedBytes(Buffer.from(JSON.stringify(successBody(answer))))
}

/** A whole body, with its tag. */
export function taggedBytes(bytes: Buffer): ReadyAnswer {
  return { tag: `"${hash('sha1', bytes, 'base64url')}"`, bytes: () => bytes }
}
