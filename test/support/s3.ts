// An S3-compatible server with its own folder, which checks signatures like a real one.
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../../reliability/service.ts'
// @ts-expect-error It has no types.
import untyped from '@20minutes/s3rver'

interface S3rver {
  run(): Promise<unknown>
  close(): Promise<void>
  httpServer: HttpServer
  /** Koa's middleware; the last one contains the routes */
  middleware: ((ctx: { path: string; state: { vhost: boolean }; mountPath: string }, next: () => unknown) => unknown)[]
}

const Server = untyped as new (options: object) => S3rver

export interface S3Store {
  /** settings of a service that stores its dumps here, under a prefix */
  settings: Record<'DUMPS_S3_URL' | 'DUMPS_S3_ACCESS_KEY' | 'DUMPS_S3_SECRET_KEY', string>
  origin: string
  /** Stops the server; its contents stay. */
  stop: () => Promise<void>
  /** Starts it again at the same address. */
  start: () => Promise<void>
  close: () => Promise<void>
}

export async function openS3(): Promise<S3Store> {
  const directory = mkdtempSync(join(tmpdir(), 'mintmark-s3-'))
  let server: S3rver | null = null
  // Reserved even while the server is stopped.
  const [port] = await freePorts(1)
  const start = async () => {
    server = new Server({ address: '127.0.0.1', port, silent: true, directory, vhostBuckets: false, configureBuckets: [{ name: 'cards' }] })
    // The library checks the signature of `/bucket/` as that of `/bucket`; real stores use the path as sent.
    server.middleware.splice(-1, 0, (ctx, next) => {
      if (/^\/[^/]+\/$/.test(ctx.path)) {
        ctx.state.vhost = true
        ctx.mountPath = '/'
      }
      return next()
    })
    await server.run()
  }
  const stop = async () => {
    const ended = server?.close()
    server?.httpServer.closeAllConnections()
    server = null
    await ended
  }
  await start()
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    settings: { DUMPS_S3_URL: `${origin}/cards/public/dumps`, DUMPS_S3_ACCESS_KEY: 'S3RVER', DUMPS_S3_SECRET_KEY: 'S3RVER' },
    stop,
    start,
    close: async () => {
      await stop()
      rmSync(directory, { recursive: true })
    },
  }
}
