// The Kubernetes manifests: valid by the schemas of Kubernetes, without unknown fields, with settings, ports and files that the service has.
import { readdirSync, readFileSync } from 'node:fs'
import * as core from 'kubernetes-models/v1'
import * as apps from 'kubernetes-models/apps/v1'
import * as batch from 'kubernetes-models/batch/v1'
import * as policy from 'kubernetes-models/policy/v1'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '#config.ts'
import { SETTINGS } from '#settings.ts'

const FOLDER = 'deploy/kubernetes'
/** Custom resources of CloudNativePG, whose schemas no package has. */
const OTHERS = ['postgresql.cnpg.io/v1', 'barmancloud.cnpg.io/v1']
/** Names in the environment that are not settings: a part of DATABASE_URL, and Node's folder for temporary files. */
const NOT_SETTINGS = ['DB_PASSWORD', 'TMPDIR']
const GROUPS: Record<string, object> = { v1: core, 'apps/v1': apps, 'batch/v1': batch, 'policy/v1': policy }

type Fields = Record<string, unknown>
interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string }
  data: Record<string, string>
  spec: Fields & { selector: { matchLabels?: Fields } & Fields; template: { metadata: { labels: Fields }; spec: PodSpec } }
}
interface PodSpec {
  securityContext: Fields
  containers: {
    args: string[]
    image: string
    env: { name: string; value?: string }[]
    securityContext: Fields
    ports?: { containerPort: number }[]
    volumeMounts: Fields[]
  }[]
}

const files = readdirSync(FOLDER)
const texts = files.map((file) => readFileSync(`${FOLDER}/${file}`, 'utf8'))
const manifests = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest))
const byKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
const settings = byKind('ConfigMap')[0]!.data

/** The value, and a function that lists the fields that nobody has read. */
function watched(value: object, path = ''): { value: object; unread: () => string[] } {
  const read = new Set<string>()
  const below = new Map(
    Object.entries(value).map(([name, each]) => [
      name,
      typeof each === 'object' && each !== null ? watched(each as object, `${path}/${name}`) : null,
    ]),
  )
  const proxy = new Proxy(value, {
    get: (target, name) => {
      read.add(String(name))
      return below.get(String(name))?.value ?? (Reflect.get(target, name) as unknown)
    },
  })
  const unread = () => [...below].flatMap(([name, each]) => (read.has(name) ? (each?.unread() ?? []) : [`${path}/${name}`]))
  return { value: proxy, unread }
}

/** The fields that the schema does not know: it reads every one that it knows. @throws if a known field is invalid */
function unknownFields(kind: string, manifest: object): string[] {
  const { apiVersion } = manifest as Manifest
  const models = GROUPS[apiVersion] as Record<string, new (data: object) => { validate: () => void }>
  const { value, unread } = watched(manifest)
  // The constructor would copy the values.
  const model = Object.assign(new models[kind]!({}), value)
  model.validate()
  return unread()
}

test('are at most 200 lines', () => {
  expect(texts.join('').split('\n').length - 1).toBeLessThanOrEqual(200)
})

test.each(manifests.filter(({ apiVersion }) => !OTHERS.includes(apiVersion)).map((each) => [each.kind, each.metadata.name, each] as const))(
  '%s %s is valid, without unknown fields',
  (kind, _name, manifest) => {
    expect(unknownFields(kind, manifest)).toEqual([])
    expect(unknownFields(kind, { ...manifest, metadata: { ...manifest.metadata, lables: {} } })).toEqual(['/metadata/lables'])
    expect(() => unknownFields(kind, { ...manifest, metadata: { name: 1 } })).toThrow('metadata/name')
  },
)

test('have a role for everything, more than one of what must not pause, and a budget for each of those', () => {
  expect(workloads.map(({ kind, spec }) => [kind, spec.template.spec.containers[0]!.args[0], spec.replicas ?? null]).sort()).toEqual([
    ['Deployment', 'api', 2],
    ['Deployment', 'operator', 1],
    ['Deployment', 'work', 2],
    ['Job', 'migrate', null],
  ])
  const labels = (role: string) => ({ app: 'mintmark', role })
  expect(byKind('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels)).toEqual([labels('api'), labels('work')])
  for (const { spec } of byKind('Deployment')) expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
})

test('set what the service knows, with values that it accepts', () => {
  const names = [
    ...Object.keys(settings),
    ...workloads.flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ env }) => env.map(({ name }) => name))),
  ]
  expect(names.filter((name) => !(name in SETTINGS) && !NOT_SETTINGS.includes(name))).toEqual([])
  const database = byKind('Deployment')[0]!.spec.template.spec.containers[0]!.env.find(({ name }) => name === 'DATABASE_URL')!.value!
  const url = database.replace('$(DB_PASSWORD)', 'secret').replace('/etc/mintmark/ca.crt', 'package.json')
  const keys = { DUMPS_S3_ACCESS_KEY: 'a', DUMPS_S3_SECRET_KEY: 'b' }
  const config = readConfig({ ...settings, ...keys, DATABASE_URL: url })
  expect([config.production, config.demo, config.dataDir]).toEqual([true, false, '/data'])
  const ports = { api: [config.port, config.metricsPort], operator: [config.operatorPort, config.metricsPort], work: [config.metricsPort] }
  for (const { spec } of byKind('Deployment')) {
    const [container] = spec.template.spec.containers
    expect(container!.ports!.map(({ containerPort }) => containerPort)).toEqual(ports[container!.args[0] as keyof typeof ports])
  }
})

test('let the service write to DATA_DIR only, as an ordinary user without privileges', () => {
  for (const { spec } of workloads) {
    const { securityContext, containers } = spec.template.spec
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } })
    for (const container of containers) {
      expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
      expect(container.volumeMounts.filter(({ readOnly }) => readOnly !== true)).toEqual([{ name: 'data', mountPath: settings.DATA_DIR }])
    }
  }
  expect(new Set(workloads.map(({ spec }) => spec.template.spec.containers[0]!.image)).size).toBe(1)
})

test('archive the database every minute, so that at most a minute is lost', () => {
  const [cluster] = byKind('Cluster')
  expect(cluster!.spec.postgresql).toMatchObject({ parameters: { archive_timeout: '50s' }, synchronous: { number: 1 } })
  expect(byKind('ObjectStore')).toHaveLength(1)
})
