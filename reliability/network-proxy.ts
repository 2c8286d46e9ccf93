// A TCP proxy to a server that can silently drop all traffic, as a firewall or a broken router does.
import { once } from 'node:events'
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export interface NetworkProxy {
  port: number
  /** Drops all traffic from now on, including the closing of connections; `open`: only on connections that are open now. */
  drop: (which: 'all' | 'open') => void
  /**
   * Stops dropping. Resets connections that lost data on both sides, as their peers would do; with `forget` only on the server's side: on the
   * client's side they stay silent, as after a power failure or a router that lost its state.
   */
  restore: (lost?: 'reset' | 'forget') => void
  /** Connections accepted so far. */
  accepted: () => number
  /** Closes all connections and forwards new ones to another server, like an address that moves. */
  redirect: (target: NetConnectOpts) => void
  close: () => Promise<void>
}

interface Pair {
  near: Socket
  far: Socket
  mute: boolean
  lost: boolean
  forgotten: boolean
}

/** @param host address to listen on */
export async function openNetworkProxy(first: NetConnectOpts, host = '127.0.0.1'): Promise<NetworkProxy> {
  let target = first
  const pairs = new Set<Pair>()
  let muteNew = false
  let accepted = 0
  const server = createServer((near) => {
    accepted += 1
    const pair: Pair = { near, far: connect(target), mute: muteNew, lost: muteNew, forgotten: false }
    pairs.add(pair)
    join(pair, near, pair.far)
    join(pair, pair.far, near)
  })

  const join = (pair: Pair, from: Socket, to: Socket) => {
    from.on('data', (chunk: Buffer) => {
      if (pair.mute) pair.lost = true
      else to.write(chunk)
    })
    from.on('error', () => {})
    from.on('close', () => {
      pair.lost = true
      if (!pair.mute) end(pair)
    })
  }

  const end = (pair: Pair) => {
    pair.near.destroy()
    pair.far.destroy()
    pairs.delete(pair)
  }

  server.listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    drop(which) {
      muteNew = which === 'all'
      for (const pair of pairs) pair.mute = true
    },
    restore(lost = 'reset') {
      muteNew = false
      for (const pair of pairs) {
        if (pair.forgotten) continue
        if (pair.lost && lost === 'forget') {
          pair.forgotten = true
          pair.far.destroy()
          continue
        }
        pair.mute = false
        if (pair.lost) end(pair)
      }
    },
    accepted: () => accepted,
    redirect(next) {
      target = next
      for (const pair of pairs) end(pair)
    },
    async close() {
      for (const pair of pairs) end(pair)
      server.close()
      await once(server, 'close')
    },
  }
}

/** Address of the server in a connection string. */
export function targetOf(url: string): NetConnectOpts {
  const { hostname, port, searchParams } = new URL(url.replace('@/', '@socket/'))
  const directory = searchParams.get('host')
  return directory ? { path: `${directory}/.s.PGSQL.${searchParams.get('port') ?? 5432}` } : { host: hostname, port: Number(port || 5432) }
}

/** The same connection string through the proxy. */
export function viaProxy(url: string, proxy: NetworkProxy): string {
  const { username, password, pathname } = new URL(url.replace('@/', '@socket/'))
  return `postgresql://${username}:${password}@127.0.0.1:${proxy.port}${pathname}`
}
