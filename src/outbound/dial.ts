// Connections to external servers: only to addresses that the guard allows, with TLS for https.
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Resolve } from './resolve.ts'
import { type TargetGuard, targetOf } from './target-guard.ts'

/** The settings of outgoing connections. */
export interface Network {
  guard: Pick<TargetGuard, 'allows'>
  resolve: Resolve
}

/** Why a connection failed; the webhook log shows these texts (docs/webhooks.md). */
export type DialProblem = 'target address not allowed' | 'name not resolved' | 'connection failed' | 'TLS error'

/** A connection failed, for the given reason. */
export class DialFailure extends Error {
  override name = 'DialFailure'
  readonly reason: DialProblem

  constructor(reason: DialProblem, cause?: unknown) {
    super(reason, { cause })
    this.reason = reason
  }
}

/**
 * Connects to a checked address, with TLS for https; all addresses that the name resolves to must be allowed.
 * @throws DialFailure if it fails; once the deadline has passed, that or the signal's reason
 */
export async function dial(url: URL, { guard, resolve }: Network, deadline: AbortSignal): Promise<Socket> {
  const { host, port } = targetOf(url)
  const addresses = isIP(host) ? [host] : await withDeadline(deadline, resolve(host))
  if (addresses.length === 0) throw new DialFailure('name not resolved')
  if (!addresses.every((address) => guard.allows(address, port))) throw new DialFailure('target address not allowed')
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  const socket = connect({ host, port, autoSelectFamily: true, lookup: (_name, _options, done) => done(null, answers) })
  ignoreErrors(socket)
  await opened(socket, 'connect', 'connection failed', deadline)
  if (url.protocol !== 'https:') return socket
  const secure = connectTls({
    socket,
    servername: isIP(host) ? '' : host.replace(/\.$/, ''),
    host,
    ALPNProtocols: ['http/1.1'],
  })
  ignoreErrors(secure)
  await opened(secure, 'secureConnect', 'TLS error', deadline)
  return secure
}

/** The result, unless the deadline passes first; it then rejects with the signal's reason. */
export async function withDeadline<T>(deadline: AbortSignal, result: Promise<T>): Promise<T> {
  const over = once(deadline, 'abort').then(() => {
    throw deadline.reason as Error
  })
  return Promise.race([result, over])
}

/** `opened` reports a socket's errors; an error between two of its calls must not terminate the process. */
function ignoreErrors(socket: Socket): void {
  socket.on('error', () => {})
}

async function opened(socket: Socket, event: string, failure: DialProblem, deadline: AbortSignal): Promise<void> {
  try {
    await once(socket, event, { signal: deadline })
  } catch (error) {
    socket.destroy()
    throw new DialFailure(failure, error)
  }
}
