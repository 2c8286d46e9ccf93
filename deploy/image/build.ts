// Builds the image of the Dockerfile without a container engine: npx node deploy/image/build.ts <folder>
// The folder then contains the root file system (`root/`) and an OCI image (`mintmark.tar`). Run it in a checkout after `npm ci`, on
// Debian 12 or another system with glibc: the image contains Node with the libraries of this machine, and no shell.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

const CHECKOUT = resolve(import.meta.dirname, '../..')
const USER = 1000

interface Dockerfile {
  /** the command that installs the packages of the image */
  install: string
  copies: { from: string; to: string }[]
  env: string[]
  ports: string[]
  entrypoint: string[]
  command: string[]
}

/** The last stage, and the command of the first one that installs without packages for development and builds. */
function readDockerfile(): Dockerfile {
  const stages = readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8')
    .replaceAll('\\\n', '')
    .split(/^(?=FROM )/m)
    .filter((stage) => stage.startsWith('FROM '))
  const [build, image] = stages.map((stage) => [...stage.matchAll(/^([A-Z]+) +(.*)$/gm)].map((match) => ({ name: match[1]!, rest: match[2]! })))
  const all = (name: string) => image!.filter((instruction) => instruction.name === name).map(({ rest }) => rest)
  const copies = all('COPY').flatMap((line) => {
    const [, sources, to] = /^--from=build ((?:\/app\/\S+ )+)\.\/(\S*)$/.exec(line)!
    const inFolder = to === '' || to!.endsWith('/')
    return sources!
      .trim()
      .split(' ')
      .map((source) => {
        const from = source.slice('/app/'.length)
        return { from, to: inFolder ? join(to!, basename(from)) : to! }
      })
  })
  return {
    install: build!.find(({ name, rest }) => name === 'RUN' && rest.includes('--omit=dev'))!.rest,
    copies,
    env: all('ENV').flatMap((line) => line.split(' ')),
    ports: all('EXPOSE').flatMap((line) => line.split(' ')),
    entrypoint: JSON.parse(all('ENTRYPOINT')[0]!) as string[],
    command: JSON.parse(all('CMD')[0]!) as string[],
  }
}

/** The packages of the lock file, in a folder of their own. */
function installPackages({ install }: Dockerfile, folder: string): void {
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'bin']) {
    if (existsSync(join(CHECKOUT, file))) cpSync(join(CHECKOUT, file), join(folder, file), { recursive: true })
  }
  const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
  execFileSync('sh', ['-ec', install], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Node and every shared library that it or a package needs, at their places on this machine. */
function copyRuntime(root: string): void {
  const node = join(root, 'usr/local/bin/node')
  mkdirSync(dirname(node), { recursive: true })
  cpSync(realpathSync(process.execPath), node)
  const packages = join(root, 'app/node_modules')
  const binaries = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(node|so(\.\d+)*)$/.test(name))
  const libraries = new Set<string>()
  for (const binary of [node, ...binaries.map((name) => join(packages, name))]) {
    // Files for another libc are not dynamic executables here.
    const listed = execFileSync('sh', ['-c', 'ldd "$1" 2>/dev/null || true', 'ldd', binary], { encoding: 'utf8' })
    for (const [, path] of listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)) if (!path!.startsWith(root)) libraries.add(path!)
  }
  for (const library of libraries) {
    mkdirSync(dirname(join(root, library)), { recursive: true })
    cpSync(realpathSync(library), join(root, library))
  }
}

function writeSystemFiles(root: string): void {
  for (const folder of ['etc', 'data', 'shared', 'proc', 'dev', 'tmp', 'mnt']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), `node:x:${USER}:${USER}::/data:/usr/sbin/nologin\n`)
  writeFileSync(join(root, 'etc/group'), `node:x:${USER}:\n`)
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')
}

/** One layer, with the same digest for the same files. Only the data folders belong to the image's user. */
function packLayer(root: string): Buffer {
  const tar = (...args: string[]) =>
    execFileSync('tar', ['--numeric-owner', '--sort=name', '--mtime=@0', '-C', root, ...args], {
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const writable = ['./data', './shared']
  const files = tar('--owner=0', '--group=0', '--mode=go+rX', ...writable.map((folder) => `--exclude=${folder}`), '-cf', '-', '.')
  const folders = tar(`--owner=${USER}`, `--group=${USER}`, '--mode=0755', '-cf', '-', ...writable)
  return gzipSync(Buffer.concat([withoutEnd(files), folders]))
}

/** Without the blocks of zeros that end an archive, so that another can follow. */
function withoutEnd(archive: Buffer): Buffer {
  let end = archive.length
  while (archive.subarray(end - 512, end).every((byte) => byte === 0)) end -= 512
  return archive.subarray(0, end)
}

function writeImage(folder: string, layer: Buffer, { env, ports, entrypoint, command }: Dockerfile): string {
  const blobs = join(folder, 'oci/blobs/sha256')
  mkdirSync(blobs, { recursive: true })
  const store = (content: Buffer) => {
    const digest = createHash('sha256').update(content).digest('hex')
    writeFileSync(join(blobs, digest), content)
    return { digest: `sha256:${digest}`, size: content.length }
  }
  const json = (value: object) => Buffer.from(JSON.stringify(value))
  const media = (kind: string) => `application/vnd.oci.image.${kind}`
  const platform = { architecture: arch() === 'x64' ? 'amd64' : arch(), os: 'linux' }
  const config = {
    ...platform,
    config: {
      User: `${USER}:${USER}`,
      Env: ['PATH=/usr/local/bin', ...env],
      Entrypoint: entrypoint,
      Cmd: command,
      WorkingDir: '/app',
      Volumes: { '/data': {} },
      ExposedPorts: Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}])),
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(gunzipSync(layer)).digest('hex')}`] },
  }
  const manifest = {
    schemaVersion: 2,
    mediaType: media('manifest.v1+json'),
    config: { mediaType: media('config.v1+json'), ...store(json(config)) },
    layers: [{ mediaType: media('layer.v1.tar+gzip'), ...store(layer) }],
  }
  const stored = { mediaType: media('manifest.v1+json'), ...store(json(manifest)), platform }
  writeFileSync(join(folder, 'oci/index.json'), json({ schemaVersion: 2, mediaType: media('index.v1+json'), manifests: [stored] }))
  writeFileSync(join(folder, 'oci/oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  execFileSync('tar', ['-C', join(folder, 'oci'), '-cf', join(folder, 'mintmark.tar'), 'oci-layout', 'index.json', 'blobs'])
  rmSync(join(folder, 'oci'), { recursive: true })
  return stored.digest
}

function build(folder: string): void {
  const dockerfile = readDockerfile()
  const root = join(folder, 'root')
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root, { recursive: true })
  const packages = mkdtempSync(join(tmpdir(), 'mintmark-packages-'))
  try {
    installPackages(dockerfile, packages)
    for (const { from, to } of dockerfile.copies) {
      const source = join(from === 'node_modules' ? packages : CHECKOUT, from)
      cpSync(source, join(root, 'app', to), { recursive: true, verbatimSymlinks: true })
    }
  } finally {
    rmSync(packages, { recursive: true, force: true })
  }
  copyRuntime(root)
  writeSystemFiles(root)
  const digest = writeImage(folder, packLayer(root), dockerfile)
  process.stdout.write(`${join(folder, 'root')}\n${join(folder, 'mintmark.tar')} ${digest}\n`)
}

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write('Usage: npx node deploy/image/build.ts <folder>\n')
  process.exitCode = 2
} else build(resolve(folder))
