// People on a test node, signed in like a browser: requests of the console's pages, codes of an authenticator app.
import { TOTP } from 'otpauth'
import { createPerson } from '#accounts/people/create-person.ts'
import type { Role } from '#core/roles.ts'
import { call } from '#core/verb.ts'
import type { TestNode } from '../support/node.ts'
import { type RawReply, sendRaw } from '../reliability/authorisation-kit.ts'

const CODE_MS = 30_000
export const PASSWORD = 'ladder-Marzipan-74-tugboat'

export interface Answer {
  status: number
  body: {
    data: {
      operator: string | null
      person: { id: number; roles: Role[]; unfinished: boolean } | null
      secret: string
      uri: string
      first_steps: boolean
    }
    error?: { code: string; message: string; details?: { field: string; rule: string }[] }
  }
  /** cookie that a sign-in sets */
  cookie: string
  headers: RawReply['headers']
}

/** A request of the console's pages, from a different address each time. */
export async function ask(on: TestNode, method: string, path: string, { body, cookie }: { body?: object; cookie?: string } = {}): Promise<Answer> {
  const headers = ['x-console', '1', 'origin', on.operatorUrl!, ...(cookie ? ['cookie', cookie] : [])]
  const { status, headers: answered, text } = await sendRaw(on.operatorUrl + path, method, headers, body && JSON.stringify(body))
  return { status, headers: answered, body: JSON.parse(text) as Answer['body'], cookie: String(answered['set-cookie'] ?? '').split(';', 1)[0]! }
}

export function signIn(on: TestNode, body: object): Promise<Answer> {
  return ask(on, 'POST', '/console/session', { body })
}

/** The code that an app shows now, by the node's clock. */
export function codeOf(on: TestNode, secret: string): string {
  return new TOTP({ secret }).generate({ timestamp: on.clock.now().getTime() })
}

/** Advances the clock to the moment when the app starts to show a code, which it then shows for 30 seconds. */
export function startOfCode(...nodes: TestNode[]): void {
  const intoCodeMs = nodes[0]!.clock.now().getTime() % CODE_MS
  for (const { clock } of nodes) clock.advance(CODE_MS - intoCodeMs)
}

/** Advances the clock until the app shows another code, and the next one. */
export function nextCode(...nodes: TestNode[]): void {
  for (const { clock } of nodes) clock.advance(60_000)
}

export function linkIn(path: string): string {
  return new URLSearchParams(path.split('#')[1]).get('link')!
}

export interface Member {
  id: number
  name: string
  secret: string
  cookie: string
}

/** Sets up two-factor sign-in in a session opened by a link. @returns the secret of the app */
export async function setTwoFactor(on: TestNode, cookie: string): Promise<string> {
  const { body } = await ask(on, 'POST', '/console/two-factor', { cookie, body: { current_password: PASSWORD } })
  const { secret } = body.data
  const confirmed = await ask(on, 'POST', '/console/two-factor/confirm', { cookie, body: { code: codeOf(on, secret) } })
  if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed.body))
  return secret
}

/** A person with these roles who has completed all steps of the sign-in. */
export async function member(on: TestNode, name: string, roles: Role[]): Promise<Member> {
  const { id, link_path: path } = await call(createPerson, on.ctx, { name, roles })
  const { cookie } = await signIn(on, { link: linkIn(path), password: PASSWORD })
  return { id, name, cookie, secret: await setTwoFactor(on, cookie) }
}
