// Signs a person in with an identity of the provider: their roles follow its claim at each sign-in.
import { factsOf, ServiceError } from '#core/errors.ts'
import type { IdentityProviderSettings } from '#core/network/identity-provider.ts'
import type { Role } from '#core/roles.ts'
import type { Viewer } from '#core/verb.ts'
import { change, type Note, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { assignRoles } from '../people/change-person.ts'
import { endSessions, noteChangedPermissions, personViewer } from '../people/people-store.ts'
import type { Identity } from './identity-provider.ts'
import { insertIdentity, lockIdentity } from './provider-people.ts'
import { ProviderRefusal, type Refused } from './provider-refusal.ts'

type Outcome = { viewer: Viewer } | { refused: Refused }

/**
 * Adds the person at the first sign-in. Without a role they are refused and their sessions end.
 * @throws ProviderRefusal
 */
export async function signInByProvider(ctx: WriteCtx, settings: IdentityProviderSettings, identity: Identity): Promise<Viewer> {
  const roles = [...new Set(identity.values.flatMap((value) => settings.roles.get(value) ?? []))]
  const outcome = await change(ctx, (tx, note) => admit(tx, note, identity, roles, ctx.now())).catch((error: unknown) => {
    if (error instanceof ServiceError && factsOf(error).rule === 'last_owner') return { refused: 'last_owner' } as Outcome
    throw error
  })
  if ('viewer' in outcome) return outcome.viewer
  const { subject, values } = identity
  const detail = `${outcome.refused}: subject ${subject}, ${settings.roleClaim} ${JSON.stringify(values).slice(0, 500)}`
  throw new ProviderRefusal(outcome.refused, detail)
}

async function admit(tx: Tx, note: Note, identity: Identity, roles: Role[], now: Date): Promise<Outcome> {
  const { issuer, subject } = identity
  let person = await lockIdentity(tx, identity)
  const refused = person?.removed_at ? 'removed' : roles.length === 0 ? 'no_role' : null
  if (refused !== null) {
    note.audit({ action: 'console.sign-in-refused', subject: 'provider', id: subject, after: { issuer, reason: refused } })
    if (person && (await endSessions(tx, person.id)) > 0) noteChangedPermissions(note, person.id)
    return { refused }
  }
  if (!person) {
    const added = await insertIdentity(tx, identity, roles, now)
    if (added) {
      note.audit({ action: 'person.create', subject: 'person', id: added.id, after: { name: added.name, roles, issuer, provider_subject: subject } })
      return { viewer: personViewer({ ...added, roles }, {}) }
    }
    person = (await lockIdentity(tx, identity))!
  }
  const { id, name, roles: before } = person
  if (before.length !== roles.length || !before.every((role) => roles.includes(role))) {
    await assignRoles(tx, note, id, roles, now)
    note.audit({ action: 'person.change', subject: 'person', id, before: { roles: before }, after: { roles } })
    noteChangedPermissions(note, id)
  }
  return { viewer: personViewer({ id, name, roles }, {}) }
}
