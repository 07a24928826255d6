// Contents of a link, in the part that browsers never send to a server.

/** The text and the settings as the part of a link after #. */
export async function packed(kept) {
  const content = new Blob([JSON.stringify(kept)]);
  const stream = content.stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return `1.${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

export async function unpacked(hash) {
  const [version, letters] = hash.replace(/^#/, "").split(".");
  if (version !== "1") throw new Error("it is of another version");
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}
