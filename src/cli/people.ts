// The commands `people owner-link`, `create`, `list`, `set`, `invite`, `remove`, `readmit`, `sessions`, `end-sessions`, and `token create`, `list`, `revoke`.
import { type Command, Option } from 'commander'
import { changePerson } from '#accounts/people/change-person.ts'
import { createPersonToken, listPersonTokens, revokePersonToken } from '#accounts/people/person-tokens.ts'
import { createPerson } from '#accounts/people/create-person.ts'
import { endPersonSession, endPersonSessions, listPersonSessions } from '#accounts/people/person-sessions.ts'
import { invitePerson } from '#accounts/people/invite-person.ts'
import { listPeople } from '#accounts/people/read-people.ts'
import { makeOwnerLink } from '#accounts/people/make-owner-link.ts'
import { removePerson } from '#accounts/people/remove-person.ts'
import type { Person } from '#accounts/people/people-types.ts'
import { readmitPerson } from '#accounts/provider/readmit-person.ts'
import { ROLES, type Role } from '#core/roles.ts'
import { call } from '#core/verb.ts'
import { readConfig } from '../config.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from './terminal/command.ts'

const PERSON = 'id of the person'

interface PersonOptions extends OutputOptions {
  name?: string
  roles?: Role[]
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const people = program.command('people').description('manage the people who run the service: roles, one-time links, sessions and tokens')
  const roles = () =>
    new Option('--roles <roles>', `comma-separated: ${ROLES.join(', ')}`).argParser((text) => text.split(',').map((role) => role.trim()))
  const linkText = (path: string, expires: string | null) => `${consoleAddress()}${path}\nValid once, until ${expires}; shown only now.`

  addCommand(people, 'owner-link', 'print a one-time link that creates the first owner').action((options: OutputOptions) =>
    open(async (ctx) => {
      const link = await call(makeOwnerLink, ctx, {})
      printResult(print, options, link, linkText(link.link_path, link.expires_at))
    }),
  )

  addCommand(people, 'create', 'add a person and print the one-time link with which they choose a password')
    .requiredOption('--name <name>', 'sign-in name')
    .addOption(roles().makeOptionMandatory())
    .action(({ name, roles, ...options }: PersonOptions) =>
      open(async (ctx) => {
        const person = await call(createPerson, ctx, { name, roles })
        printResult(print, options, person, `Person ${person.id} "${person.name}" created:\n${linkText(person.link_path, person.link_expires_at)}`)
      }),
    )

  addCommand(people, 'list', 'list all people').action((options: OutputOptions) =>
    open(async (ctx) => {
      const rows = await allRows((paging) => call(listPeople, ctx, paging))
      const lines = rows.map((p) => [p.id, p.name, p.roles.join(','), signInOf(p), p.created_at])
      printResult(print, options, rows, columns(['ID', 'NAME', 'ROLES', 'SIGNS IN', 'CREATED'], lines))
    }),
  )

  addCommand(people, 'set', 'change the name or roles of a person')
    .argument('<id>', PERSON, wholeNumber)
    .option('--name <name>', 'new name')
    .addOption(roles())
    .action((id: number, { name, roles, ...options }: PersonOptions) =>
      open(async (ctx) => {
        const person = await call(changePerson, ctx, { id, ...(name !== undefined && { name }), ...(roles && { roles }) })
        printResult(print, options, person, `Person ${id} "${person.name}" has the roles ${person.roles.join(', ')}`)
      }),
    )

  addCommand(people, 'invite', "reset a person's credentials and print a new one-time link")
    .argument('<id>', PERSON, wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const person = await call(invitePerson, ctx, { id })
        printResult(print, options, person, linkText(person.link_path, person.link_expires_at))
      }),
    )

  addCommand(people, 'remove', 'remove a person and end their sessions and tokens')
    .argument('<id>', PERSON, wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const person = await call(removePerson, ctx, { id })
        printResult(print, options, person, `Person ${id} "${person.name}" removed`)
      }),
    )

  addCommand(people, 'readmit', 'let a removed person sign in with the identity provider again')
    .argument('<id>', PERSON, wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const person = await call(readmitPerson, ctx, { id })
        printResult(print, options, person, `"${person.name}" may sign in with the identity provider again`)
      }),
    )

  registerSessions(people, open, print)
  registerTokens(people, open, print)
}

function signInOf({ two_factor: twoFactor, has_password: hasPassword, by_provider: byProvider }: Person): string {
  const password = twoFactor ? 'password and code' : hasPassword ? 'password' : null
  return [byProvider ? 'identity provider' : null, password].filter((way) => way !== null).join(', ') || 'no'
}

function registerSessions(people: Command, open: OpenCli, print: Print): void {
  addCommand(people, 'sessions', 'list the active sessions of a person')
    .argument('<id>', PERSON, wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const rows = await allRows((paging) => call(listPersonSessions, ctx, { id, ...paging }))
        const lines = rows.map((s) => [s.id, s.address, s.created_at, s.last_used_at, s.expires_at, s.browser])
        printResult(print, options, rows, columns(['ID', 'ADDRESS', 'OPENED', 'LAST USED', 'ENDS', 'BROWSER'], lines))
      }),
    )

  addCommand(people, 'end-sessions', 'end the sessions of a person')
    .argument('<id>', PERSON, wholeNumber)
    .option('--session <id>', 'only this session', wholeNumber)
    .action((id: number, { session, ...options }: OutputOptions & { session?: number }) =>
      open(async (ctx) => {
        const result =
          session === undefined ? await call(endPersonSessions, ctx, { id }) : await call(endPersonSession, ctx, { id, session_id: session })
        printResult(print, options, result, `${result.ended} sessions ended`)
      }),
    )
}

function registerTokens(people: Command, open: OpenCli, print: Print): void {
  const token = people.command('token').description('manage operator API tokens of people')

  addCommand(token, 'create', 'create a token and print it; it is shown only once')
    .argument('<id>', PERSON, wholeNumber)
    .requiredOption('--label <label>', 'what uses the token')
    .action((id: number, { label, ...options }: OutputOptions & { label: string }) =>
      open(async (ctx) => {
        const created = await call(createPersonToken, ctx, { id, label })
        printResult(print, options, created, `Token ${created.id} "${created.label}"; shown only once:\n${created.token}`)
      }),
    )

  addCommand(token, 'list', 'list all tokens of a person, without secrets')
    .argument('<id>', PERSON, wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const tokens = await allRows((paging) => call(listPersonTokens, ctx, { id, ...paging }))
        const lines = tokens.map((t) => [t.id, t.label, `...${t.last4}`, t.created_at, t.last_used_at, t.revoked_at])
        printResult(print, options, tokens, columns(['ID', 'LABEL', 'TOKEN', 'CREATED', 'LAST USED', 'REVOKED'], lines))
      }),
    )

  addCommand(token, 'revoke', 'revoke a token')
    .argument('<id>', PERSON, wholeNumber)
    .argument('<token-id>', 'id of the token', wholeNumber)
    .action((id: number, tokenId: number, options: OutputOptions) =>
      open(async (ctx) => {
        const revoked = await call(revokePersonToken, ctx, { id, token_id: tokenId })
        printResult(print, options, revoked, `Token ${tokenId} revoked at ${revoked.revoked_at}`)
      }),
    )
}

/** The configured address of the console; behind a proxy, browsers use another one. */
function consoleAddress(): string {
  const { operatorHost, operatorPort } = readConfig()
  const host = operatorHost === '0.0.0.0' || operatorHost === '::' ? '127.0.0.1' : operatorHost
  return `http://${host.includes(':') ? `[${host}]` : host}:${operatorPort}`
}
