// Components around the nodes of a run: nginx, a receiver of webhooks, and clients that retry.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { freePorts, pause, until } from './service.ts'

export function installed(program: string, flag: string): boolean {
  return spawnSync(program, [flag], { stdio: 'ignore' }).status === 0
}

export interface Nginx {
  url: string
  close: () => Promise<void>
}

/** nginx as a reverse proxy as in its manual: keep-alive on both sides, next node if one cannot be reached. */
export async function startNginx(dir: string, nodes: string[]): Promise<Nginx> {
  const [port] = (await freePorts(1)) as [number]
  mkdirSync(dir, { recursive: true })
  const configuration = `
    daemon off; worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log warn;
    events { worker_connections 512; }
    http {
      access_log off; client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy;
      fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
      upstream nodes { ${nodes.map((node) => `server ${new URL(node).host} max_fails=1 fail_timeout=1s;`).join(' ')} keepalive 16; }
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass http://nodes; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_connect_timeout 1s; }
      }
    }`
  writeFileSync(join(dir, 'nginx.conf'), configuration)
  const child = spawnProgram('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')])
  await until('nginx listens', () => listens(port))
  return { url: `http://127.0.0.1:${port}`, close: () => stop(child) }
}

/** A receiver of webhooks that responds after a delay; records how often each event arrived, and when it was signed (seconds). */
export async function openReceiver(delayMs: number) {
  const deliveries = new Map<string, number>()
  const timestamps: { sent: number; signed: number }[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const id = String(request.headers['webhook-id'])
      deliveries.set(id, (deliveries.get(id) ?? 0) + 1)
      timestamps.push({ sent: Date.now() / 1_000, signed: Number(request.headers['webhook-timestamp']) })
      setTimeout(() => response.end('ok'), delayMs)
    })
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { port: (server.address() as AddressInfo).port, deliveries, timestamps, close }
}

export interface Traffic {
  sent: number
  /** requests retried on another node after a refused connection */
  retried: number
  failures: string[]
  stop: () => Promise<void>
}

interface TrafficRequest {
  method: 'GET' | 'PATCH'
  path: string
  key: string
  body?: string
}

/** Sends requests to all URLs in turn over keep-alive connections; after a refused connection, retries once on the next URL. */
export function startTraffic(urls: string[], requestOf: (n: number) => TrafficRequest, clients = 4): Traffic {
  let running = true
  const traffic: Traffic = { sent: 0, retried: 0, failures: [], stop: async () => {} }
  const once = async (url: string, { method, path, key, body }: TrafficRequest): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }), signal: AbortSignal.timeout(60_000) })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${method} ${response.status}`)
  }
  const client = async (offset: number) => {
    for (let n = offset; running; n += clients) {
      const request = requestOf(n)
      traffic.sent += 1
      const [first, second] = [urls[n % urls.length]!, urls[(n + 1) % urls.length]!]
      try {
        await once(first, request).catch((error: unknown) => {
          if (!refused(error)) throw error
          traffic.retried += 1
          return once(second, request)
        })
      } catch (error) {
        traffic.failures.push(`${request.method}: ${reasonOf(error)}`)
      }
      await pause(3)
    }
  }
  const loops = Array.from({ length: clients }, (_, n) => client(n))
  traffic.stop = async () => {
    running = false
    await Promise.all(loops)
  }
  return traffic
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string } }
  return cause?.code ?? message
}

function refused(error: unknown): boolean {
  return reasonOf(error) === 'ECONNREFUSED'
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Starts a program that is killed when this process exits. */
export function spawnProgram(name: string, args: string[]): ChildProcess {
  const child = spawn(name, args, { stdio: 'ignore' })
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
