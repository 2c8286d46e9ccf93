// One server of an address with several servers: host, host:5432 or [::1]:5432.

export interface Server {
  host: string
  port: number
}

/** Null if the text is not a host with an optional port from 1 to 65535. */
export function readServer(text: string, defaultPort: number): Server | null {
  const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text)
  const port = Number(parts?.[3] ?? defaultPort)
  if (!parts || port < 1 || port > 65_535) return null
  return { host: (parts[1] ?? parts[2])!, port }
}
