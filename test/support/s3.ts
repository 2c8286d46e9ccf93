// An S3-compatible server on a folder of its own, whose signatures are checked as those of a real one.
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
  /** of Koa; the last one are its routes */
  middleware: ((ctx: { path: string; state: { vhost: boolean }; mountPath: string }, next: () => unknown) => unknown)[]
}

const Server = untyped as new (options: object) => S3rver

export interface S3Store {
  /** settings of a service that keeps its dumps here, below a prefix */
  settings: Record<'DUMPS_S3_URL' | 'DUMPS_S3_ACCESS_KEY' | 'DUMPS_S3_SECRET_KEY', string>
  origin: string
  /** Ends the server; what it holds stays. */
  stop: () => Promise<void>
  /** Starts it again at the same address. */
  start: () => Promise<void>
  close: () => Promise<void>
}

export async function openS3(): Promise<S3Store> {
  const directory = mkdtempSync(join(tmpdir(), 'mintmark-s3-'))
  let server: S3rver | null = null
  // Of its own also while it is stopped.
  const [port] = await freePorts(1)
  const start = async () => {
    server = new Server({ address: '127.0.0.1', port, silent: true, directory, vhostBuckets: false, configureBuckets: [{ name: 'cards' }] })
    // It would check the signature of `/bucket/` as that of `/bucket`; stores take the path as it was sent.
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
