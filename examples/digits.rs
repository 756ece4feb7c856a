//! Classifies handwritten digits: a convolutional network is trained on 1437 images of 8 by 8
//! pixels and tested on 360 by other writers. Prints its accuracy after each tenth epoch, and draws
//! the learning curve and test images with their predictions to `target/pictures/digits.png`.

use plotters::prelude::*;
use pointful::lib::{
    Key, argsort, conv2, fold, integers, key, log_softmax, max_pool2, normal, relu, split, uniform,
};
use pointful::optim::Adam;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{data, figure, picture, progress};

/// An image.
#[derive(Clone, Copy, IndexSet)]
pub struct Image(usize);

/// A place in a batch of images.
#[derive(Clone, Copy, IndexSet)]
pub struct Place(usize);

/// A class.
#[pointful]
pub type Digit = Fin<10>;

/// An image's pixels: one channel, rows and columns.
#[pointful]
pub type Pixels<T> = Table<(Fin<1>, Fin<8>, Fin<8>), T>;

/// The parameters of the network.
#[pointful]
#[derive(Clone)]
pub struct Network<T: Float> {
    /// Kernels of the first convolution.
    pub first: Table<(Fin<16>, Fin<1>, Fin<3>, Fin<3>), T>,
    /// Biases of its channels.
    pub first_bias: Table<Fin<16>, T>,
    /// Kernels of the second convolution.
    pub second: Table<(Fin<32>, Fin<16>, Fin<3>, Fin<3>), T>,
    /// Biases of its channels.
    pub second_bias: Table<Fin<32>, T>,
    /// Weights of the dense layer.
    pub output: Table<(Digit, Fin<32>, Fin<2>, Fin<2>), T>,
    /// Biases of the dense layer.
    pub output_bias: Table<Digit, T>,
}

/// The log-probabilities of the digits for an image.
#[pointful]
pub fn log_probabilities<T: Float>(network: &Network<T>, image: &Pixels<T>) -> Table<Digit, T> {
    // Tables know how large sets are.
    let four = (for _i in (Fin::<4>, Fin::<4>) {
        0.0
    })
    .extent();
    let (eight, two) = (image[0].extent(), network.output[0][0].extent());
    let edges = conv2(image, network.first, eight, (1, 1), (1, 1), (1, 1));
    let edges = max_pool2(relu(edges + network.first_bias), four, (2, 2), (2, 2));
    let strokes = conv2(edges, network.second, four, (1, 1), (1, 1), (1, 1));
    let strokes = max_pool2(relu(strokes + network.second_bias), two, (2, 2), (2, 2));
    log_softmax(for d in Digit {
        network.output_bias[d] + sum(network.output[d] * strokes)
    })
}

/// Data augmentation: an image shifted by up to one pixel to the left or right.
#[pointful]
pub fn shifted<T: Float>(image: &Pixels<T>, key: Key) -> Pixels<T> {
    let right = integers(key, -1, 2);
    for (c, i, j) in _ {
        image[c][i].get(j.ordinal() as i64 - right).unwrap_or(0.0)
    }
}

/// The mean cross-entropy of a batch of augmented images.
#[pointful]
pub fn cross_entropy<N: IndexSet, B: IndexSet, T: Float>(
    network: &Network<T>,
    images: &Table<(N, Fin<1>, Fin<8>, Fin<8>), T>,
    labels: &Table<N, Digit>,
    batch: &Table<B, N>,
    key: Key,
) -> T {
    mean(for b in B {
        let n = batch[b];
        let image = shifted(images[n], fold(key, b.ordinal()));
        -log_probabilities(network, image)[labels[n]]
    })
}

/// The most probable digit for each image.
#[pointful]
pub fn predict<N: IndexSet, T: Float>(
    network: &Network<T>,
    images: &Table<(N, Fin<1>, Fin<8>, Fin<8>), T>,
) -> Table<N, Digit> {
    for n in N {
        argmax(log_probabilities(network, images[n]))
    }
}

/// Initial parameters: normal weights, the smaller the more of them are summed.
#[pointful]
pub fn initial<T: Float>(key: Key) -> Network<T> {
    let (first, rest) = split(key);
    let (second, output) = split(rest);
    Network {
        first: for i in (Fin::<16>, Fin::<1>, Fin::<3>, Fin::<3>) {
            0.5 * normal(fold(first, i.ordinal()))
        },
        first_bias: for _k in Fin::<16> {
            0.0
        },
        second: for i in (Fin::<32>, Fin::<16>, Fin::<3>, Fin::<3>) {
            0.13 * normal(fold(second, i.ordinal()))
        },
        second_bias: for _k in Fin::<32> {
            0.0
        },
        output: for i in (Fin::<10>, Fin::<32>, Fin::<2>, Fin::<2>) {
            0.1 * normal(fold(output, i.ordinal()))
        },
        output_bias: for _d in Fin::<10> {
            0.0
        },
    }
}

/// All members of a set in a random order.
#[pointful]
pub fn shuffled<N: IndexSet>(n: Extent<N>, key: Key) -> Table<N, N> {
    let dice: Table<N, f64> = for i in n {
        uniform(fold(key, i.ordinal()))
    };
    argsort(dice)
}

/// Images and their labels.
type Examples<T> = (
    Table<(Image, Fin<1>, Fin<8>, Fin<8>), T>,
    Table<Image, Digit>,
);

/// A part of the file; pixels are from 0 to 1.
fn examples<T: Float>(which: std::ops::Range<usize>) -> Examples<T> {
    let text = std::fs::read_to_string(data("digits.txt")).expect("the data are there");
    let lines: Vec<_> = text.lines().skip(which.start).take(which.len()).collect();
    let value = |c: char| T::from_f64(f64::from(c.to_digit(17).expect("a digit")) / 16.0);
    let pixels = lines.iter().flat_map(|line| line[2..].chars().map(value));
    let digit = |line: &&str| Fin::new(line[..1].parse().expect("a digit"));
    let labels = lines.iter().map(digit).collect();
    let extent = Extent::new((lines.len(), (), (), ()));
    (
        Table::from_vec(extent, pixels.collect()).expect("64 pixels an image"),
        labels,
    )
}

/// The share of images that are classified correctly.
fn accuracy(network: &Network<f32>, (images, labels): &Examples<f32>) -> f64 {
    let predicted = predict(network, images);
    let correct = predicted
        .values()
        .zip(labels.values())
        .filter(|(a, b)| a == b)
        .count();
    correct as f64 / labels.len() as f64
}

/// Trains by Adam with batches of 32 images, each image once per epoch.
fn train(
    training: &Examples<f32>,
    epochs: usize,
    mut report: impl FnMut(usize, &Network<f32>),
) -> Network<f32> {
    let (images, labels) = training;
    let (begin, epoch_key) = split(key(1998));
    let mut network = initial::<f32>(begin);
    let mut adam = Adam::new(0.003, &network);
    for epoch in 0..epochs {
        adam.rate = 0.003 * 0.5_f64.powf(epoch as f64 / 10.0);
        let (order, shifts) = split(fold(epoch_key, epoch));
        let order = shuffled(labels.extent(), order);
        for (step, batch) in order.ordinals().chunks(32).enumerate() {
            let places = Extent::<Place>::new(batch.len());
            let batch =
                Table::from_indices(places, labels.extent(), batch.to_vec()).expect("images");
            let slope = grad!(cross_entropy, wrt = network)(
                &network,
                images,
                labels,
                &batch,
                fold(shifts, step),
            );
            adam.step(&mut network, &slope);
        }
        report(epoch + 1, &network);
    }
    network
}

fn main() {
    let (training, test_set) = (examples(0..1437), examples(1437..1797));
    let epochs = 40;
    let bar = progress::bar("training", epochs);
    let mut errors = [Vec::new(), Vec::new()];
    let network = train(&training, epochs, |epoch, network| {
        let accuracies = [accuracy(network, &training), accuracy(network, &test_set)];
        for (errors, accuracy) in errors.iter_mut().zip(accuracies) {
            errors.push((epoch as f64, 100.0 * (1.0 - accuracy)));
        }
        bar.inc(1);
        if epoch % 10 == 0 {
            let [training, test_set] = accuracies.map(|share| 100.0 * share);
            bar.suspend(|| {
                println!(
                    "epoch {epoch}: accuracy {training:.1} % in training, {test_set:.1} % in test"
                );
            });
        }
    });
    bar.abandon();
    let share = 100.0 * accuracy(&network, &test_set);
    println!("accuracy on 360 test images by other writers: {share:.1} %");
    let path = picture("digits.png");
    draw(&path, errors, &network, &test_set).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws the error rates of each epoch, and beside them test images: first the misclassified ones.
fn draw(
    path: &std::path::Path,
    [training, test_set]: [Vec<(f64, f64)>; 2],
    network: &Network<f32>,
    (images, labels): &Examples<f32>,
) -> Result<(), Box<dyn std::error::Error>> {
    let chart = figure::Chart::new(
        "Learning curve of a convolutional network",
        "epoch",
        "error rate / %",
    )
    .heights(0.0..20.0)
    .line("1437 training images", figure::BLUE, training)
    .line("360 test images by other writers", figure::ORANGE, test_set);
    let predicted = predict(network, images);
    let (predicted, labels) = (predicted.ordinals(), labels.ordinals());
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&n| (predicted[n] == labels[n], n % 29));
    figure::draw(path, (1200, 420), |root| {
        let (left, right) = root.split_horizontally(figure::pixels(600));
        chart.draw(&left)?;
        let right = right.margin(figure::pixels(12), 0, 0, figure::pixels(12));
        let right = right.titled(
            "Test images: prediction (label if different)",
            figure::font(20),
        )?;
        for (cell, &n) in right.split_evenly((4, 8)).iter().zip(&order) {
            let side = figure::pixels(7) as i32;
            for (k, shade) in images.as_slice()[64 * n..64 * (n + 1)].iter().enumerate() {
                let grey = (255.0 * (1.0 - shade)) as u8;
                let (x, y) = (side * (k % 8 + 1) as i32, side * (k / 8 + 1) as i32);
                let corners = [(x, y), (x + side, y + side)];
                cell.draw(&Rectangle::new(
                    corners,
                    RGBColor(grey, grey, grey).filled(),
                ))?;
            }
            let (text, colour) = if predicted[n] == labels[n] {
                (format!("{}", predicted[n]), figure::INK)
            } else {
                (format!("{} ({})", predicted[n], labels[n]), figure::ORANGE)
            };
            cell.draw(&Text::new(
                text,
                (side, 9 * side + side / 2),
                figure::font(16).color(&colour),
            ))?;
        }
        Ok(())
    })
}

/// Along some directions: there are six thousand weights.
#[test]
fn the_gradient_is_that_of_differences() {
    let (images, labels) = examples::<f64>(0..5);
    let all =
        Table::<Place, Image>::from_indices(Extent::new(5), labels.extent(), (0..5).collect());
    let batch = all.expect("there are five images");
    let mut network = initial::<f64>(key(3));
    // Otherwise blank pixels are at the kink of `relu`.
    network.first_bias = network.first_bias.map(|_| 0.1);
    let slope = grad!(cross_entropy, wrt = network)(&network, &images, &labels, &batch, key(4));
    for seed in 5..8 {
        let mut direction = initial::<f64>(key(seed));
        direction.first_bias = direction.first_bias.map(|_| 0.2);
        let by_differences = differences::gradient(&[0.0], |t| {
            let mut at = network.clone();
            at.axpy(t[0], &direction);
            cross_entropy(&at, &images, &labels, &batch, key(4))
        });
        differences::assert_close(&[slope.dot(&direction)], &by_differences, 1e-6);
    }
}

/// The same network by plain loops.
#[test]
fn agrees_with_plain_loops() {
    let (images, _) = examples::<f64>(7..8);
    let network = initial::<f64>(key(3));
    // Channels of squares to channels of squares with half the side.
    let layer = |x: &[f64], side: usize, w: &[f64], channels: usize| {
        let from = x.len() / (side * side);
        let mut y = vec![0.0_f64; channels * side * side / 4];
        for (k, i, j) in
            (0..channels * side * side).map(|n| (n / (side * side), n / side % side, n % side))
        {
            let mut total = 0.0;
            for (c, p, q) in (0..from * 9).map(|n| (n / 9, n / 3 % 3, n % 3)) {
                let (row, column) = (i + p, j + q);
                if (1..=side).contains(&row) && (1..=side).contains(&column) {
                    total += w[(k * from + c) * 9 + 3 * p + q]
                        * x[(c * side + row - 1) * side + column - 1];
                }
            }
            // The bias is zero, and the largest of four is at least zero where each is.
            let pooled = &mut y[(k * side / 2 + i / 2) * (side / 2) + j / 2];
            *pooled = pooled.max(total);
        }
        y
    };
    let edges = layer(images.as_slice(), 8, network.first.as_slice(), 16);
    let strokes = layer(&edges, 4, network.second.as_slice(), 32);
    let rows = network.output.as_slice().chunks(128);
    let scores: Vec<f64> = rows
        .map(|row| row.iter().zip(&strokes).map(|(w, x)| w * x).sum())
        .collect();
    let total = scores.iter().map(|s| s.exp()).sum::<f64>().ln();
    let expected: Vec<f64> = scores.iter().map(|s| s - total).collect();
    let image = Table::from_vec(Extent::default(), images.into_vec()).expect("one image");
    differences::assert_close(
        log_probabilities(&network, &image).as_slice(),
        &expected,
        1e-12,
    );
}

#[test]
fn a_short_training_generalizes() {
    let (training, test_set) = (examples(0..400), examples(1437..1797));
    let network = train(&training, 6, |_, _| ());
    let share = accuracy(&network, &test_set);
    assert!(share > 0.75, "{share}");
}
