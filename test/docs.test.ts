// The guides: every path, link, command and setting in them exists.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { SETTINGS } from '#settings.ts'

const GUIDES = [
  'README.md',
  'CONTRIBUTING.md',
  'client/README.md',
  'sample/README.md',
  ...readdirSync('examples').map((example) => `examples/${example}/README.md`),
  ...['docs', 'docs/decisions', 'docs/tr'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]
const scripts = Object.keys((JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }).scripts)

/** Commands of the program, with their subcommands. */
const commands = new Map((await readProgram()).commands.map((command) => [command.name(), command.commands.map((below) => below.name())]))

/** The program with its commands, without running it. */
async function readProgram(): Promise<Command> {
  const program = new Command()
  for (const file of readdirSync('src/cli', { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || !readFileSync(join('src/cli', file), 'utf8').includes('export function register(')) continue
    const { register } = (await import(join(process.cwd(), 'src/cli', file))) as { register: (...parameters: unknown[]) => void }
    register(
      program,
      () => {},
      () => {},
    )
  }
  return program
}

describe.each(GUIDES)('%s', (guide) => {
  const text = readFileSync(guide, 'utf8')

  test('links lead to files that exist', () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)/g)].map((match) => match[1]!)
    expect(targets.filter((target) => !existsSync(join(dirname(guide), target)))).toEqual([])
  })

  test('paths in code exist', () => {
    const paths = [...text.matchAll(/`((?:src|test|docs|bench|reliability|sample|client|console|graphiql|deploy|examples)\/[\w./@-]*)`/g)].map(
      (match) => match[1]!,
    )
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  })

  test('commands exist', () => {
    const named = [...text.matchAll(/(?:npx mintmark|`mintmark) ([a-z-]+)(?: ([a-z-]+))?/g)]
    const unknown = named.filter(([, name, sub]) => {
      const below = commands.get(name!)
      return below === undefined || (below.length > 0 && sub !== undefined && !below.includes(sub))
    })
    expect(unknown.map(([all]) => all)).toEqual([])
  })

  test("TypeScript files run on the project's Node, because other versions cannot run them", () => {
    expect([...text.matchAll(/(?<!npx )\bnode (?:-\S+ )*[\w./-]+\.ts\b/g)].map(([command]) => command)).toEqual([])
  })

  test('shell commands are complete', () => {
    const blocks = [...text.matchAll(/^( *)```sh(?: run)?\n(.*?)^\1```$/gms)].map((match) => match[2]!.replaceAll(`\n${match[1]}`, '\n'))
    for (const block of blocks) expect([block, spawnSync('bash', ['-n'], { input: block, encoding: 'utf8' }).stderr]).toEqual([block, ''])
  })

  test('npm scripts exist', () => {
    const named = [...text.matchAll(/npm run ([a-z:-]+)/g)].map((match) => match[1]!)
    expect(named.filter((name) => !scripts.includes(name))).toEqual([])
  })
})

test("the operator's guide lists every setting, and no others", () => {
  const guide = readFileSync('docs/operating.md', 'utf8')
  const table = guide.slice(guide.indexOf('## Settings'), guide.indexOf('## Importing'))
  const named = [...table.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map((match) => match[1]!)
  expect(Object.keys(SETTINGS).filter((name) => !named.includes(name))).toEqual([])
  expect(named.filter((name) => !(name in SETTINGS))).toEqual([])
})

describe('Deployment files', () => {
  const files = ['Dockerfile', 'compose.yaml', 'deploy/mintmark.service', 'deploy/mintmark@.service']
  const OF_OTHERS = ['POSTGRES_PASSWORD', 'POSTGRES_USER', 'POSTGRES_DB']

  test.each(files)('%s uses existing settings only', (file) => {
    const named = [...readFileSync(file, 'utf8').matchAll(/\b([A-Z][A-Z]+(?:_[A-Z]+)+)\b/g)].map((match) => match[1]!)
    expect(named.filter((name) => !(name in SETTINGS) && !OF_OTHERS.includes(name))).toEqual([])
  })

  test('the image copies existing files only', () => {
    const copied = [...readFileSync('Dockerfile', 'utf8').matchAll(/^COPY --from=build \/app\/(\S+)/gm)].map((match) => match[1]!)
    expect(copied.length).toBeGreaterThan(3)
    expect(copied.filter((path) => !existsSync(path))).toEqual([])
  })

  test('services start with commands of the program', () => {
    const started = [...readFileSync('compose.yaml', 'utf8').matchAll(/command: \[([a-z-]+)\]/g)].map((match) => match[1]!)
    expect(started.filter((name) => !commands.has(name))).toEqual([])
  })
})
