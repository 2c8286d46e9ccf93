// OpenAPI has one entry for paths that differ only in the names of their parameters; the router has one for each route.

interface Operation {
  parameters?: { in: string; name: string }[]
}

interface Paths {
  paths: Record<string, object>
}

/** Merges such paths in place: `/imports/{id}` and `/imports/{format}` become `/imports/{id_or_format}`. */
export function mergePaths(document: Paths): void {
  const families = Map.groupBy(Object.entries(document.paths), ([path]) => path.replace(/\{\w+\}/g, '{}'))
  document.paths = Object.fromEntries([...families.values()].map(merged))
}

function merged(family: [path: string, operations: object][]): [path: string, operations: object] {
  if (family.length === 1) return family[0]!
  const names = family.map(([path]) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!))
  const joined = names[0]!.map((_, place) => [...new Set(names.map((all) => all[place]!))].join('_or_'))
  for (const [index, [, operations]] of family.entries()) {
    for (const { parameters = [] } of Object.values(operations as Record<string, Operation>)) {
      for (const parameter of parameters) if (parameter.in === 'path') parameter.name = joined[names[index]!.indexOf(parameter.name)]!
    }
  }
  let place = 0
  const path = family[0]![0].replace(/\{\w+\}/g, () => `{${joined[place++]!}}`)
  return [path, Object.assign({}, ...family.map(([, operations]) => operations)) as object]
}
