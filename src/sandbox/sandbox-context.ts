// What operations on sandboxes need: outside of them the sandboxes of the service, inside of one the sandbox itself.
import { conflict, ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { MarketSettings } from '#market/marketplace-types.ts'
import type { Sandboxes } from './sandboxes.ts'
import type { World } from './world.ts'

export interface SandboxCtx extends WriteCtx {
  viewer: Viewer
  market: MarketSettings
  /** null inside of a sandbox, and if the service has none */
  sandboxes: Sandboxes | null
  /** null outside */
  world: World | null
}

/** @throws CONFLICT if the service has no sandboxes */
export function sandboxesOf({ sandboxes }: SandboxCtx): Sandboxes {
  if (!sandboxes) throw conflict('sandboxes_off')
  return sandboxes
}

/** The sandbox of a test key; the gate refuses other keys. */
export function worldOf({ world }: SandboxCtx): World {
  if (!world) throw new ServiceError('KEY_MODE_MISMATCH', reason('test_key_only'))
  return world
}

/** Stores the result under the idempotency key of the request, if it has one. */
export function storedResult<T>(ctx: SandboxCtx, result: T): Promise<T> {
  return ctx.idempotency === null ? Promise.resolve(result) : change(ctx, async () => result)
}
