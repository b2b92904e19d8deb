//! Pictures on the disk.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use candle_core::{DType, Tensor};

/// RGB pictures of one block, eight bits per channel.
pub struct Frames {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Rows of `RGBRGB…` from the top, one picture after the other.
    pub pixels: Vec<u8>,
}

impl Frames {
    /// From the decoder's `[frames, 3, height, width]` in -1…1; what is beyond is clipped.
    pub fn from_tensor(pictures: &Tensor) -> Result<Self> {
        let (_, _, height, width) = pictures.dims4()?;
        let bytes = ((pictures.clamp(-1.0, 1.0)? + 1.0)? * 127.5)?.round()?;
        Ok(Self {
            width: u32::try_from(width)?,
            height: u32::try_from(height)?,
            pixels: bytes.to_dtype(DType::U8)?.permute((0, 2, 3, 1))?.flatten_all()?.to_vec1()?,
        })
    }

    /// The pictures in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let picture_bytes = self.width as usize * self.height as usize * 3;
        self.pixels.chunks_exact(picture_bytes)
    }
}

/// A folder that frames are added to: `frame_0000.png` and so on.
pub struct FrameFolder {
    path: PathBuf,
    n_frames: usize,
}

impl FrameFolder {
    /// The folder, made if it is not there. Frames that are there already are overwritten by name.
    pub fn create(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path: path.to_path_buf(), n_frames: 0 })
    }

    /// Frames added so far.
    pub fn n_frames(&self) -> usize {
        self.n_frames
    }

    /// Adds the frames of a block.
    pub fn add(&mut self, frames: &Frames) -> Result<()> {
        for pixels in frames.iter() {
            let path = self.path.join(format!("frame_{:04}.png", self.n_frames));
            write_png(&path, frames.width, frames.height, pixels)
                .with_context(|| format!("cannot write {}", path.display()))?;
            self.n_frames += 1;
        }
        Ok(())
    }
}

fn write_png(path: &Path, width: u32, height: u32, pixels: &[u8]) -> Result<()> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn frames_are_numbered_through_and_read_back_as_written() {
        // Two frames of 1 × 2 pixels: red is -1 and 1, green 0, blue beyond the range.
        let frame = [[[-1.0_f32, 1.0]], [[0.0, 0.0]], [[-9.0, 9.0]]];
        let pictures = Tensor::new(&[frame, frame], &Device::Cpu).unwrap();
        let frames = Frames::from_tensor(&pictures).unwrap();
        assert_eq!(frames.iter().len(), 2);

        let folder = tempfile::tempdir().unwrap();
        let mut written = FrameFolder::create(&folder.path().join("new")).unwrap();
        written.add(&frames).unwrap();
        written.add(&frames).unwrap();
        assert_eq!(written.n_frames(), 4);

        let file = File::open(folder.path().join("new/frame_0003.png")).unwrap();
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [0, 128, 0, 255, 128, 255]);
    }
}
