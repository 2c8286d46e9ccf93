// Checks links into the guides that a listener serves.

/** Those of the addresses (`/docs/guides/selling#sales`) whose page or section does not exist. */
export async function missingSections(url: string, addresses: Iterable<string>): Promise<string[]> {
  const missing: string[] = []
  for (const address of addresses) {
    const [path = '', section] = address.split('#')
    const response = await fetch(url + path)
    const html = await response.text()
    if (response.status !== 200 || (section !== undefined && !html.includes(` id="${section}"`))) missing.push(address)
  }
  return missing
}
