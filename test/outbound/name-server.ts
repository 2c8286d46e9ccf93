// A DNS server for tests: answers A queries over UDP with the given addresses.
import { createSocket } from 'node:dgram'
import { type Resolve, openResolver } from '#outbound/resolve.ts'

/** @param answer addresses for a name, none for a name that does not exist, null for no response */
export async function openNameServer(answer: (name: string) => string[] | null): Promise<{ resolve: Resolve; close(): void }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const isA = query.readUInt16BE(at + 1) === 1
    const name = labels.join('.')
    const addresses = answer(name)
    if (addresses === null) return
    const records = isA ? addresses : []
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(records.length, 6)
    header.writeUInt32BE(0, 8)
    const answers = records.map((address) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]))
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { resolve: openResolver([`127.0.0.1:${socket.address().port}`]), close: () => socket.close() }
}
