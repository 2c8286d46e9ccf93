// The people who run the service, for owners: invite, assign roles, reinvite and remove; each with sessions and tokens.
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useVersion } from '#ui/data.ts'
import { confirm, Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Secret } from '#ui/secret.tsx'
import { Await, Facts } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import { List, useData, useWrite, writeNow } from '../api.ts'
import type { InvitedPerson, Person } from '../api-types.ts'
import { roleValues as ROLES } from '../api-values.ts'
import { PersonSessions, PersonTokens } from '../ui/person-parts.tsx'
import { date, moment, t, termText } from '../words.ts'

const PATH = '/console/people'

export function PeoplePage() {
  const [version, changed] = useVersion()
  const [adding, setAdding] = useState(false)
  const [invited, setInvited] = useState<InvitedPerson | null>(null)
  return (
    <>
      <Heading>{t('people')}</Heading>
      <p class="quiet">{t('peopleText')}</p>
      <List
        path="/people"
        caption={t('people')}
        empty={t('noPeople')}
        version={version}
        actions={
          <button type="button" class="main" onClick={() => setAdding(true)}>
            {t('newPerson')}
          </button>
        }
        rowKey={({ id }) => id}
        columns={[
          { head: t('personName'), cell: ({ id, name }) => <a href={`${PATH}/${id}`}>{name}</a> },
          { head: t('roles'), cell: rolesOf },
          { head: t('signsIn'), cell: signsIn },
          { head: t('made'), short: true, wide: true, cell: ({ created_at: at }) => date(at) },
        ]}
      />
      {adding && (
        <PersonForm
          onClose={() => setAdding(false)}
          onSaved={(person) => {
            setAdding(false)
            setInvited(person as InvitedPerson)
            changed()
          }}
        />
      )}
      {invited && <Invitation of={invited} onClose={() => setInvited(null)} />}
    </>
  )
}

export function PersonPage({ id }: { id: string }) {
  const { route } = useLocation()
  const [version, changed] = useVersion()
  const person = useData(`/people/${Number(id)}`, { version })
  const [editing, setEditing] = useState(false)
  const [invited, setInvited] = useState<InvitedPerson | null>(null)
  const remove = async ({ name }: Person) => {
    if (!(await confirm({ title: t('removePerson', { name }), text: t('removePersonText'), action: t('remove') }))) return
    if (!(await writeNow('DELETE', `/people/${Number(id)}`))) return
    announce(t('personRemoved', { name }))
    route(PATH)
  }
  const invite = async ({ name }: Person) => {
    if (!(await confirm({ title: t('inviteAgain', { name }), text: t('inviteAgainText'), action: t('makeLink') }))) return
    const link = await writeNow('POST', `/people/${Number(id)}/invite`)
    if (!link) return
    setInvited(link.data)
    changed()
  }
  return (
    <Await of={person}>
      {(found) => (
        <>
          <p class="trail">
            <a href={PATH}>{t('people')}</a>
          </p>
          <div class="head">
            <Heading>{found.name}</Heading>
            <div class="actions">
              <button type="button" onClick={() => setEditing(true)}>
                {t('edit')}
              </button>
              <button type="button" onClick={() => void invite(found)}>
                {t('newLink')}
              </button>
              <button type="button" class="danger" onClick={() => void remove(found)}>
                {t('remove')}
              </button>
            </div>
          </div>
          <Facts
            rows={[
              [t('roles'), rolesOf(found)],
              [t('signsIn'), signsIn(found)],
              [t('made'), date(found.created_at)],
            ]}
          />
          <PersonSessions key={`sessions ${version}`} personId={found.id} />
          <PersonTokens key={`tokens ${version}`} personId={found.id} />
          {editing && (
            <PersonForm
              of={found}
              onClose={() => setEditing(false)}
              onSaved={() => {
                setEditing(false)
                announce(t('personChanged'))
                changed()
              }}
            />
          )}
          {invited && <Invitation of={invited} onClose={() => setInvited(null)} />}
        </>
      )}
    </Await>
  )
}

interface PersonFormProps {
  /** the person to change; absent for a new one */
  of?: Person
  onSaved: (person: Person | InvitedPerson) => void
  onClose: () => void
}

function PersonForm({ of, onSaved, onClose }: PersonFormProps) {
  const { busy, error, write } = useWrite()
  const submit = async (values: Values) => {
    const body = { name: values.name!, roles: ROLES.filter((role) => `role.${role}` in values) }
    const saved = of ? await write('PATCH', `/people/${of.id}`, body) : await write('POST', '/people', body)
    if (saved) onSaved(saved.data)
  }
  return (
    <Dialog title={of ? t('changeKey', { label: of.name }) : t('newPerson')} onClose={onClose}>
      <Form submit={of ? t('save') : t('makeLink')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <Field label={t('personName')} hint={t('personNameHint')}>
          <input name="name" required maxLength={60} autocomplete="off" defaultValue={of?.name} />
        </Field>
        <fieldset class="checks">
          <legend>{t('roles')}</legend>
          {ROLES.map((role) => (
            <label key={role} class="check">
              <input type="checkbox" name={`role.${role}`} defaultChecked={of?.roles.includes(role)} />
              <span>
                {termText('role', role)} <small>{termText('roleText', role)}</small>
              </span>
            </label>
          ))}
        </fieldset>
      </Form>
    </Dialog>
  )
}

function Invitation({ of: { name, link_path: path }, onClose }: { of: InvitedPerson; onClose: () => void }) {
  return <Secret title={t('linkFor', { name })} value={`${location.origin}${path}`} onClose={onClose} />
}

function rolesOf({ roles }: Person): string {
  return roles.map((role) => termText('role', role)).join(', ')
}

function signsIn({ by_provider: byProvider, has_password: hasPassword, two_factor: twoFactor, link_expires_at: expires }: Person): string {
  if (twoFactor) return t('withPasswordAndCode')
  if (hasPassword) return t('withPassword')
  if (byProvider) return t('withProvider')
  if (expires === null) return t('withTokensOnly')
  return Date.parse(expires) > Date.now() ? t('invitedUntil', { at: moment(expires) }) : t('linkIsOver')
}
