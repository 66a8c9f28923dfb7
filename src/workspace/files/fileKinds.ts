const PACKED =
  /\.(?:png|jpe?g|gif|webp|heic|pdf|zip|gz|tgz|bz2|xz|zst|7z|whl|jar|docx|xlsx|pptx|npz|pt|pth|ckpt|onnx|safetensors|parquet|feather|mp[34]|m4a|ogg|flac|mov|avi|mkv|webm|woff2?|vsix)$/i;
const BINARY =
  /\.(?:ico|bmp|tiff?|tar|so|dll|dylib|exe|o|a|pyc|class|wasm|npy|bin|dat|pkl|arrow|h5|hdf5|wav|ttf|otf|db|sqlite3?)$/i;

/** Whether files with this name are already compressed, so that an archive does not make them smaller. */
export function isPackedName(path: string): boolean {
  return PACKED.test(path);
}

/** Whether files with this name contain binary data rather than text. */
export function isBinaryName(path: string): boolean {
  return BINARY.test(path);
}
